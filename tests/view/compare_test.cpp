#include "firstlayer/view/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace firstlayer {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Differences, OfBitsAndOfValues) {
  const std::vector<float> a = {1, 0.0F, kNan, 2};
  const std::vector<float> b = {1, -0.0F, kNan, 3};
  EXPECT_EQ(differing_bits(a, b), 2);    // the sign of zero, and 2 or 3
  EXPECT_EQ(differing_values(a, b), 2);  // what is no number equals nothing, and 2 or 3
}

TEST(Differences, Largest) {
  const std::vector<float> a = {1, -2, 3};
  EXPECT_EQ(largest_difference<float>(a, a), 0);
  EXPECT_EQ(largest_difference<float>(a, std::vector<float>{1, 2, 2}), 4);
  EXPECT_TRUE(std::isnan(largest_difference<float>(a, std::vector<float>{1, kNan, 2})));
}

TEST(Differences, RefuseDifferentLengths) {
  const std::vector<float> a = {1, 2};
  const std::vector<float> b = {1};
  EXPECT_THROW(differing_bits(a, b), std::invalid_argument);
  EXPECT_THROW(differing_values(b, a), std::invalid_argument);
  EXPECT_THROW(largest_difference<float>(a, b), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
