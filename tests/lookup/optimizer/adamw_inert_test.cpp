#include "firstlayer/lookup/optimizer/adamw_inert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firstlayer/lookup/optimizer/adamw_kernels.h"

namespace firstlayer::adamw_kernels {
namespace {

std::vector<AdamWStep> steps_after(const AdamWRule& rule, std::uint64_t first, std::size_t count) {
  std::vector<AdamWStep> steps;
  for (std::size_t i = 1; i <= count; ++i) {
    steps.emplace_back(rule, 1e-3 * static_cast<double>(i % 9), first + i);  // the largest rate is not the first
  }
  return steps;
}

/// The largest power of two for M that the bound calls inert; checks that all such moments are, for P next to a power
/// of two, below which numbers lie closest.
int largest_inert(const AdamWRule& rule, std::span<const AdamWStep> steps, float first_v) {
  const InertBound bound(rule, steps);
  EXPECT_TRUE(bound.usable);
  int largest = -200;
  for (int exponent = -149; exponent < 0; ++exponent) {
    for (const float first_p : {1.0F, 1 + 0x1p-23F, 1 - 0x1p-24F, -1.0F, 0x1p-60F}) {
      float m = -std::ldexp(1.0F, exponent);
      if (!(bound.factor * std::fabs(m) < std::fabs(first_p) * (bound.shrink * std::sqrt(first_v) + rule.eps)))
        continue;
      float p = first_p;
      float v = first_v;
      float decayed = first_p;
      for (const AdamWStep& step : steps) {
        step_reference(rule, step, &p, &m, &v, nullptr, 1);
        decayed *= step.decay;
      }
      EXPECT_EQ(p, decayed) << "M = -2^" << exponent << ", P = " << first_p << ", V = " << first_v;
      largest = exponent;
    }
  }
  return largest;
}

TEST(InertBound, KnowsWhichUpdatesMoveNothing) {
  for (const double weight_decay : {0.0, 0.1, 5.0}) {
    for (const double beta2 : {0.0, 0.9, 0.999}) {
      const AdamWRule rule({.beta2 = beta2, .weight_decay = weight_decay});
      for (const std::size_t count : {1, 8, 128}) {
        for (const float v : {0.0F, 1e-42F, 1e-20F, 1e-8F, 1e10F})
          largest_inert(rule, steps_after(rule, 500, count), v);
      }
    }
  }
}

TEST(InertBound, IsOfUse) {
  // |u| = 0.008 |M| / sqrt(V): for V = 1 the exact limit is |M| < 2^-26 / 0.008 = 2^-19.03.
  const AdamWRule rule({.weight_decay = 0});
  EXPECT_EQ(largest_inert(rule, steps_after(rule, 100'000, 8), 1), -20);
}

TEST(InertBound, SaysNothingWhereRoundingsAreNotBounded) {
  const auto usable = [](const AdamW& options, double lr) {
    const AdamWRule rule(options);
    const std::vector<AdamWStep> steps = {{rule, lr, 1000}, {rule, lr, 1001}};
    return InertBound(rule, steps).usable;
  };
  EXPECT_TRUE(usable({}, 1e-3));
  EXPECT_TRUE(usable({}, 0));
  EXPECT_FALSE(usable({.eps = 0}, 1e-3));
  EXPECT_FALSE(usable({.eps = 1e-12}, 1e-3));
  EXPECT_FALSE(usable({.weight_decay = 1001}, 1e-3));  // parameters change sign
  EXPECT_FALSE(usable({.weight_decay = 1}, 1));        // or vanish
  EXPECT_FALSE(usable({.weight_decay = 0}, 1e12));
}

}  // namespace
}  // namespace firstlayer::adamw_kernels
