#include "firstlayer/lookup/optimizer/adamw_verified_scalars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/optimizer/adamw_kernels.h"

namespace firstlayer::adamw_kernels {
namespace {

std::vector<AdamWStep> steps_after(const AdamWRule& rule, std::uint64_t first, std::size_t count) {
  std::vector<AdamWStep> steps;
  for (std::size_t i = 1; i <= count; ++i) steps.emplace_back(rule, 1e-3, first + i);
  return steps;
}

/// The largest distance of the formula's update from the approximation, in parts of the interval's half width.
double worst(const AdamWRule& rule, std::uint64_t first, std::size_t count, float eps_share, Generator& generator) {
  const std::vector<AdamWStep> steps = steps_after(rule, first, count);
  const VerifiedScalars block(rule, steps);
  EXPECT_TRUE(block.usable);
  double largest = 0;
  std::vector<float> root(2000);
  generator.fill_normal(root);
  for (float x : root) {
    // eps is about eps_share of the denominator.
    const float start = x * (rule.eps / eps_share - rule.eps) * steps.front().root2.divisor;
    float m = 0.37F * x;
    float v = start * start;
    float middle_v = v;
    for (std::size_t j = 0; j < block.middle; ++j) middle_v *= rule.decay2;
    const float w = 1 / std::fma(std::sqrt(middle_v), block.inverse_root2, rule.eps);
    const float y = std::fma(-rule.eps, w, 1.0F);
    const float linear = w * y;
    const float square = linear * y;
    for (std::size_t j = 0; j < count; ++j) {
      float p = 0;
      step_reference(rule, steps[j], &p, &m, &v, nullptr, 1);
      const float update = m * std::fma(block.a[j], std::fma(block.tail[j], square, linear), w);
      const double low = static_cast<double>(update) * block.low[j];
      const double high = static_cast<double>(update) * block.high[j];
      largest = std::max(largest, std::fabs(p - (low + high) / 2) / (std::fabs(high - low) / 2));
    }
  }
  return largest;
}

TEST(VerifiedScalars, HoldTheFormulaBetweenThem) {
  Generator generator(1);
  double largest = 0;
  for (const double beta2 : {0.995, 0.999, 0.9999}) {
    const AdamWRule rule({.beta2 = beta2});
    for (const std::uint64_t first : {300, 1000, 50'000}) {
      for (const std::size_t count : {5, 8, 16}) {
        if (!VerifiedScalars(rule, steps_after(rule, first, count)).usable) continue;
        for (const float eps_share : {0.9F, 0.33F, 0.1F, 1e-4F}) {
          largest = std::max(largest, worst(rule, first, count, eps_share, generator));
        }
      }
    }
  }
  EXPECT_LT(largest, 1);
  EXPECT_GT(largest, 0.2);  // and they are not far apart for nothing
}

TEST(VerifiedScalars, AreRefusedWhereTheirErrorIsNotBounded) {
  const auto usable = [](const AdamW& options, std::uint64_t first) {
    const AdamWRule rule(options);
    return VerifiedScalars(rule, steps_after(rule, first, 8)).usable;
  };
  EXPECT_TRUE(usable({}, 1000));
  EXPECT_FALSE(usable({}, 1));                  // the bias correction changes too quickly
  EXPECT_FALSE(usable({.beta2 = 0.95}, 1000));  // and so does V
  EXPECT_FALSE(usable({.eps = 0}, 1000));
  EXPECT_FALSE(usable({.eps = 1e-12}, 1000));
  EXPECT_FALSE(usable({.beta2 = 1 - 1e-9}, 1));     // root2 is below 2^-12
  EXPECT_FALSE(usable({.weight_decay = 2000}, 1));  // parameters change sign
}

TEST(InertBound, SaysWhichUpdatesMoveNothing) {
  const AdamWRule rule({.weight_decay = 0.1});
  const std::vector<AdamWStep> steps = steps_after(rule, 1000, 8);
  const InertBound bound(rule, steps);
  ASSERT_TRUE(bound.usable);
  const float v = 1e-8F;
  const float w = 1 / (std::sqrt(v) / steps.back().root2.divisor + rule.eps);
  int largest_inert = -60;
  for (int exponent = -60; exponent < 0; ++exponent) {  // of M, for P just above a power of two and just below
    for (float p : {1.0F, 1 - 0x1p-24F, -1.0F}) {
      float m = std::ldexp(1.0F, exponent);
      const bool inert = bound.factor * m * w < std::fabs(p);
      float moved = p;
      float only_decayed = p;
      float square = v;
      for (const AdamWStep& step : steps) {
        step_reference(rule, step, &moved, &m, &square, nullptr, 1);
        only_decayed *= step.decay;
      }
      if (!inert) continue;
      EXPECT_EQ(moved, only_decayed) << exponent;
      largest_inert = exponent;
    }
  }
  EXPECT_GT(largest_inert, -50);  // the bound is of use
}

}  // namespace
}  // namespace firstlayer::adamw_kernels
