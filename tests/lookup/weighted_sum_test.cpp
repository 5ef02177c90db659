#include "firstlayer/lookup/weighted_sum.h"

#include <gtest/gtest.h>

#include <vector>

#include "firstlayer/base/random.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer::weighted_sum {
namespace {

class WeightedSum : public testing::OnTarget {};

TEST_P(WeightedSum, EqualsTheReference) {
  Generator generator(11);
  constexpr std::size_t kRows = 23;
  for (std::size_t dim : {1U, 2U, 7U, 16U, 33U, 128U, 129U, 300U, 768U}) {
    std::vector<float> rows(kRows * dim);
    generator.fill_normal(rows);
    for (std::size_t count : {0U, 1U, 2U, 5U, 40U}) {
      std::vector<std::uint32_t> indices(count);
      for (std::uint32_t& index : indices) index = generator.next_u32() % kRows;
      std::vector<float> weights(count);
      generator.fill_normal(weights);
      for (bool weighted : {false, true}) {
        const std::span<const float> given = weighted ? std::span<const float>(weights) : std::span<const float>();
        std::vector<float> expected(dim + 1, -77.0F);
        std::vector<float> received(dim + 1, -77.0F);
        sum_reference(rows.data(), dim, indices, given, expected.data());
        sum(rows.data(), dim, indices, given, received.data());
        EXPECT_EQ(testing::difference(expected, received), "") << dim << " wide, " << count << " rows";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, WeightedSum, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer::weighted_sum
