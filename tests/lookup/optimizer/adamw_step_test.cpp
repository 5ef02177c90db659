#include "firstlayer/lookup/optimizer/adamw_step.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace firstlayer {
namespace {

TEST(AdamWStep, RoundsItsScalarsAsPyTorchDoes) {
  const AdamWRule rule({.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1});
  EXPECT_EQ(rule.gain1, static_cast<float>(1 - 0.9));  // not 1 - 0.9F, which is another float
  EXPECT_NE(rule.gain1, 1 - 0.9F);
  EXPECT_EQ(rule.gain2, static_cast<float>(1 - 0.999));
  const AdamWStep first(rule, 3e-4, 1);
  EXPECT_EQ(first.rate, static_cast<float>(-3e-4 / (1 - 0.9)));
  EXPECT_EQ(first.decay, static_cast<float>(1 - 3e-4 * 0.1));
  EXPECT_EQ(first.root2.divisor, static_cast<float>(std::sqrt(1 - 0.999)));
  EXPECT_EQ(AdamWStep(rule, 3e-4, 100'000'000).root2.divisor, 1);
}

/// Whether each mantissa of two binades is divided right.
bool divides_all(const ExactQuotient& by) {
  for (std::uint32_t bits = 0x3f800000; bits < 0x40800000; ++bits) {
    const auto x = std::bit_cast<float>(bits);
    if (std::fma(x, by.high, x * by.low) != x / by.divisor) return false;
  }
  return true;
}

TEST(ExactQuotient, EqualsTheDivisionForEveryMantissa) {
  const AdamWRule rule({});
  for (std::uint64_t t : {1, 2, 3, 17, 1000, 20'000}) {
    const ExactQuotient by = AdamWStep(rule, 1e-3, t).root2;
    ASSERT_TRUE(by.found) << t;
    EXPECT_TRUE(divides_all(by)) << "step " << t;
  }
  for (float d : {1.0F, 0.5F, 0.75F, 1 - 0x1p-24F, 0x1.000002p-1F, 1e-8F}) {
    const ExactQuotient by(d);
    EXPECT_EQ(by.found, divides_all(by)) << d;
  }
}

TEST(ExactQuotient, IsFoundForNearlyAllSteps) {
  const AdamWRule rule({});
  int not_found = 0;
  for (std::uint64_t t = 1; t <= 20'000; ++t) not_found += AdamWStep(rule, 1e-3, t).root2.found ? 0 : 1;
  EXPECT_LE(not_found, 10);
}

TEST(ExactQuotient, MovesThePairWhereTheNearestOneFails) {
  const AdamWRule rule({});
  for (std::uint64_t t = 1; t <= 20'000; ++t) {
    const ExactQuotient by = AdamWStep(rule, 1e-3, t).root2;
    ExactQuotient nearest = by;
    nearest.high = 1 / by.divisor;
    nearest.low = static_cast<float>(1 / static_cast<double>(by.divisor) - static_cast<double>(nearest.high));
    if (!by.found || (by.high == nearest.high && by.low == nearest.low)) continue;
    EXPECT_FALSE(divides_all(nearest)) << t;
    EXPECT_TRUE(divides_all(by)) << t;
    return;
  }
  FAIL() << "no step needed another pair";
}

}  // namespace
}  // namespace firstlayer
