#include "firstlayer/lookup/stored_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "firstlayer/lookup/embedding_table.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::message_of;

/// All rows of the table, in their order.
std::vector<float> all_rows(const StoredTable& table) {
  std::vector<std::int64_t> ids(table.shape()[0]);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  Tensor<float, 3> out({1, ids.size(), table.shape()[1]});
  table.lookup(View<const std::int64_t, 2>(ids, {1, ids.size()}), out);
  return {out.flat().begin(), out.flat().end()};
}

TEST(StoredTable, GivesTheNumbersItHoldsAsFloats) {
  Generator generator(5);
  const Tensor<float, 2> table = random_table(40, 37, generator);
  EXPECT_EQ(difference(table.flat(), all_rows(StoredTable::rounded(table, Dtype::kF32))), "");
  std::vector<float> bfloat16;
  std::vector<float> float16;
  for (float value : table.flat()) {
    bfloat16.push_back(static_cast<float>(BFloat16(value)));
    float16.push_back(static_cast<float>(Float16(value)));
  }
  EXPECT_EQ(difference(bfloat16, all_rows(StoredTable::rounded(table, Dtype::kBF16))), "");
  EXPECT_EQ(difference(float16, all_rows(StoredTable::rounded(table, Dtype::kF16))), "");
}

TEST(StoredTable, RoundsEachRowToMultiplesOfItsScale) {
  const std::vector<float> values = {12.7F, -6.35F, 0.05F, 0.15F, 0, -0.0F, 0, 0, 1, -508, 2, 6};
  const StoredTable table = StoredTable::rounded({values, {3, 4}}, Dtype::kI8);
  const float scale = 12.7F / 127.0F;
  // 0.5 and 1.5 scales are ties, or would be in exact arithmetic; in the last row the scale is 4.
  const std::vector<float> rows = all_rows(table);
  EXPECT_EQ(rows[0], 127 * scale);
  EXPECT_NEAR(rows[1], -6.35F, 0.5001F * scale);
  EXPECT_EQ(difference(std::vector<float>{0, 0, 0, 0, 0, -508, 0, 8}, std::span(rows).subspan(4)), "");
}

TEST(StoredTable, IsOffByHalfAScaleAtMost) {
  Generator generator(6);
  const Tensor<float, 2> table = random_table(50, 101, generator);
  const std::vector<float> rows = all_rows(StoredTable::rounded(table, Dtype::kI8));
  for (std::size_t i = 0; i < 50; ++i) {
    float largest = 0.0F;
    for (float value : table.view()[i]) largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < 101; ++k) {
      EXPECT_NEAR(rows[i * 101 + k], table.view()(i, k), largest / 127 * 0.500001) << i << ", " << k;
    }
  }
}

TEST(StoredTable, RoundsTheSmallestRowsWithoutDividingByZero) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values = {kTiny, 0, 200 * kTiny, -70 * kTiny, 180 * kTiny, -70 * kTiny};
  const std::vector<float> rows = all_rows(StoredTable::rounded({values, {3, 2}}, Dtype::kI8));
  // The scales are 0, 2 and 1 of the smallest numbers; 127 of the last one are as far as 8 bits go.
  EXPECT_EQ(difference(std::vector<float>{0, 0, 200 * kTiny, -70 * kTiny, 127 * kTiny, -70 * kTiny}, rows), "");
}

TEST(StoredTable, TakesWhatACheckpointHolds) {
  Int8Rows rows{Tensor<std::int8_t, 2>({2, 2}), {0.5F, 2.0F}};
  const std::vector<std::int8_t> values = {-128, 3, 127, -1};
  std::ranges::copy(values, rows.values.flat().begin());
  const StoredTable table(std::move(rows));
  EXPECT_EQ(difference(std::vector<float>{-64, 1.5F, 254, -2}, all_rows(table)), "");
  EXPECT_EQ(table.dtype(), Dtype::kI8);
  EXPECT_EQ(table.bytes(), 4U + 8U);
  Tensor<BFloat16, 2> halves({1, 3});
  halves.flat()[1] = BFloat16(1.5F);
  const StoredTable bfloat16(std::move(halves));
  EXPECT_EQ(difference(std::vector<float>{0, 1.5F, 0}, all_rows(bfloat16)), "");
  EXPECT_EQ(bfloat16.dtype(), Dtype::kBF16);
  EXPECT_EQ(bfloat16.bytes(), 6U);
}

/// A large output goes past the caches; the numbers are the same.
TEST(StoredTable, GivesLargeOutputsToo) {
  Generator generator(7);
  const Tensor<float, 2> table = random_table(100, 512, generator);
  const StoredTable stored = StoredTable::rounded(table, Dtype::kF16);
  Tensor<TokenId, 2> ids({8, 1100});
  for (TokenId& id : ids.flat()) id = generator.next_u32() % 100;
  Tensor<float, 3> out({8, 1100, 512});
  stored.lookup(ids, out);
  for (std::size_t place : {std::size_t{0}, std::size_t{4321}, std::size_t{8799}}) {
    for (std::size_t k = 0; k < 512; ++k) {
      ASSERT_EQ(out.flat()[place * 512 + k], static_cast<float>(Float16(table.view()(ids.flat()[place], k))));
    }
  }
}

TEST(StoredTable, RefusesWhatDoesNotFit) {
  const std::vector<float> values = {1, 2, 3, std::nanf("")};
  const View<const float, 2> table(values, {2, 2});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { StoredTable::rounded(table, Dtype::kI8); }),
            "[StoredTable] expected finite values to round to 8 bits, received nan in row 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { StoredTable::rounded(table, Dtype::kF64); }),
            "[StoredTable] expected F32, BF16, F16 or I8, received F64");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              StoredTable(Tensor<Float16, 2>({3, 0}));
            }),
            "[StoredTable] expected a table with rows and columns, received (3, 0)");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              StoredTable(Int8Rows{Tensor<std::int8_t, 2>({3, 1}), {1.0F}});
            }),
            "[StoredTable] expected a scale for each of 3 rows, received 1");
  const StoredTable stored = StoredTable::rounded(table, Dtype::kBF16);
  const std::vector<TokenId> ids = {0, 2};
  Tensor<float, 3> out({1, 2, 2});
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              stored.lookup({ids, {1, 2}}, out);
            }),
            "[StoredTable::lookup] expected ids below V = 2, received 2 at (b=0, t=1)");
  EXPECT_THROW(stored.lookup({ids, {2, 1}}, out), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
