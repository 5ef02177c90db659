#include "firstlayer/lookup/embedding_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sha256.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::sha256_hex;

TEST(RandomTable, HasTheBitsOfTorchsEmbedding) {
  Generator toy(123);
  EXPECT_EQ(sha256_hex(std::as_bytes(random_table(6, 3, toy).flat())).substr(0, 16), "2f784467177dbc25");
  Generator few(123);
  EXPECT_EQ(sha256_hex(std::as_bytes(random_table(1, 5, few).flat())).substr(0, 16), "42218e27d046383b");
}

TEST(RandomTable, RefusesEmptyTablesAndBadDeviations) {
  Generator generator(1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { random_table(0, 3, generator); }),
            "[random_table] expected rows and dim of at least 1, received (0, 3)");
  EXPECT_THROW(random_table(3, 0, generator), std::invalid_argument);
  EXPECT_THROW(random_table(3, 3, generator, -0.02), std::invalid_argument);
}

/// Ids [2, 3, 5, 1] in the toy table of the lessons.
TEST(LookupRows, PicksTheRowsOfTheToyTable) {
  Generator generator(123);
  const Tensor<float, 2> table = random_table(6, 3, generator);
  const std::vector<TokenId> ids = {2, 3, 5, 1};
  Tensor<float, 3> out({1, 4, 3});
  lookup_rows(table, {ids, {1, 4}}, out);
  const std::vector<float> expected = {1.2753F,  -0.2010F, -0.1606F, -0.4015F, 0.9666F, -1.1481F,
                                       -2.8400F, -0.7849F, -1.4096F, 0.9178F,  1.5810F, 1.3010F};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(out.flat()[i], expected[i], 5e-5) << i;
}

TEST(LookupRows, RefusesIdsAndShapesThatDoNotFit) {
  const std::vector<float> values(12);
  const View<const float, 2> table(values, {4, 3});
  const std::vector<TokenId> ids = {0, 1, 2, 3, 3, 4294967295U};
  Tensor<float, 3> out({2, 3, 3});
  for (float& value : out.flat()) value = 5.0F;
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              lookup_rows(table, {ids, {2, 3}}, out);
            }),
            "[lookup_rows] expected ids below V = 4, received 4294967295 at (b=1, t=2)");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              lookup_rows(table, {ids, {3, 2}}, out);
            }),
            "[lookup_rows] expected out of shape (B, T, d) = (3, 2, 3), a vector for each id of shape (B, T) = (3, 2), "
            "received (2, 3, 3)");
  for (float value : out.flat()) EXPECT_EQ(value, 5.0F) << "a refused call must write nothing";
}

template <IdInteger T>
std::vector<float> rows_of(const std::vector<T>& ids) {
  const std::vector<float> values = {0, 1, 10, 11, 20, 21, 30, 31};
  Tensor<float, 3> out({1, ids.size(), 2});
  lookup_rows({values, {4, 2}}, View<const T, 2>(ids, {1, ids.size()}), out);
  return {out.flat().begin(), out.flat().end()};
}

TEST(LookupRows, TakesIdsOf16And32And64Bits) {
  const std::vector<float> expected = {30, 31, 0, 1, 20, 21};
  EXPECT_EQ(rows_of<std::uint16_t>({3, 0, 2}), expected);
  EXPECT_EQ(rows_of<std::int32_t>({3, 0, 2}), expected);
  EXPECT_EQ(rows_of<std::uint32_t>({3, 0, 2}), expected);
  EXPECT_EQ(rows_of<std::int64_t>({3, 0, 2}), expected);
}

template <IdInteger T>
std::string refusal_of(T id) {
  return message_of<std::out_of_range>([&] { rows_of<T>({1, id}); });
}

TEST(LookupRows, RefusesIdsThatAreNegativeOrFarBeyondTheTable) {
  const std::string start = "[lookup_rows] expected ids below V = 4, received ";
  EXPECT_EQ(refusal_of<std::int64_t>(-1), start + "-1 at (b=0, t=1)");
  EXPECT_EQ(refusal_of<std::int64_t>(INT64_MIN), start + "-9223372036854775808 at (b=0, t=1)");
  EXPECT_EQ(refusal_of<std::int64_t>(INT64_MAX), start + "9223372036854775807 at (b=0, t=1)");
  EXPECT_EQ(refusal_of<std::int64_t>(4), start + "4 at (b=0, t=1)");
  EXPECT_EQ(refusal_of<std::int64_t>(std::int64_t{1} << 32), start + "4294967296 at (b=0, t=1)") << "it is not id 0";
  EXPECT_EQ(refusal_of<std::int32_t>(-1), start + "-1 at (b=0, t=1)");
  EXPECT_EQ(refusal_of<std::int32_t>(INT32_MIN), start + "-2147483648 at (b=0, t=1)");
  EXPECT_EQ(refusal_of<std::uint16_t>(65535), start + "65535 at (b=0, t=1)");
}

TEST(LookupRows, HintsAtSwappedSizes) {
  const std::vector<float> values(12);
  const std::vector<TokenId> ids = {0, 3};
  Tensor<float, 3> out({1, 2, 4});
  EXPECT_EQ(
      message_of<std::out_of_range>([&] {
        lookup_rows({values, {3, 4}}, {ids, {1, 2}}, out);
      }),
      "[lookup_rows] expected ids below V = 3, received 3 at (b=0, t=1); the table is (V, d) = (3, 4) and every id "
      "is below d: are its sizes swapped?");
}

TEST(LookupRows, HasNothingToDoForNoIds) {
  const std::vector<float> values(12);
  Tensor<float, 3> out({0, 3, 3});
  lookup_rows({values, {4, 3}}, {{}, {0, 3}}, out);
}

}  // namespace
}  // namespace firstlayer
