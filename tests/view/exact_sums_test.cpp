#include "firstlayer/view/exact_sums.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/every_target.h"

namespace firstlayer::exact_sums {
namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(ExactSums, AddsTheLanesInTheirOrder) {
  // 2^53 + 1 is no float64: where the ones meet it last, they are added to each other first.
  std::vector<float> x(kLanes + 2, 0.0F);
  std::vector<float> ones(x.size(), 1.0F);
  x[0] = 0x1p53F;
  x[1] = x[9] = 1.0F;
  EXPECT_EQ(dot_reference(x, ones), 0x1p53 + 2);
  x[9] = 0.0F;
  x[kLanes] = 1.0F;  // the same lane as x[0], where it is lost; then so is x[1]
  EXPECT_EQ(dot_reference(x, ones), 0x1p53);
}

TEST(ExactSums, SmallSumsAreWhatTheyAre) {
  EXPECT_EQ(dot({}, {}), 0.0);
  const std::vector<float> x = {1, 2, 3};
  const std::vector<float> y = {4, -5, 6};
  EXPECT_EQ(dot(x, y), 12.0);
  EXPECT_EQ(squared_distance(x, y), 9.0 + 49.0 + 9.0);
}

TEST(ExactSums, NothingOverflowsOrVanishes) {
  const std::vector<float> large(100, std::numeric_limits<float>::max());
  const std::vector<float> small(100, std::numeric_limits<float>::denorm_min());
  EXPECT_GT(dot(large, large), 1e78);
  EXPECT_LT(dot(large, large), 1.2e79);
  EXPECT_EQ(dot(small, small), 100 * 0x1p-298);
}

class ExactSums : public testing::OnTarget {};

TEST_P(ExactSums, EqualsTheReferenceForEveryWidth) {
  Generator generator(1);
  for (std::size_t d = 0; d < 130; ++d) {
    std::vector<float> x(d);
    std::vector<float> y(d);
    generator.fill_normal(x);
    generator.fill_normal(y);
    if (d > 3) x[d / 2] *= 1e12F;
    EXPECT_EQ(bits(dot(x, y)), bits(dot_reference(x, y))) << d;
    EXPECT_EQ(bits(squared_distance(x, y)), bits(squared_distance_reference(x, y))) << d;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, ExactSums, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer::exact_sums
