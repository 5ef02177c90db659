#include "firstlayer/view/byte_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Rounding, GoesTheWayItSays) {
  EXPECT_EQ(rounded_up(0.5), 0.5F);
  EXPECT_EQ(rounded_up(1 + 0x1p-40), 1 + 0x1p-23F);
  EXPECT_EQ(rounded_down(1 + 0x1p-40), 1.0F);
  EXPECT_EQ(rounded_up(-1e300), -kMost);
  EXPECT_EQ(rounded_down(-1e300), -kInfinity);
  EXPECT_EQ(rounded_down(1e300), kMost);
  EXPECT_EQ(rounded_up(1e-300), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(rounded_down(1e-300), 0.0F);
  EXPECT_EQ(rounded_down(-std::numeric_limits<double>::infinity()), -kInfinity);
}

TEST(ByteRows, PutsBytesWhereTheLayoutSays) {
  std::vector<float> table(17 * 5, 0.0F);
  table[16 * 5 + 4] = -254.0F;
  const ByteRows rows(View<const float, 2>(table, {17, 5}), Metric::kDot, 1);
  EXPECT_EQ(rows.blocks(), 2U);
  EXPECT_EQ(rows.quads(), 2U);
  EXPECT_EQ(rows.block(1)[64], byte_dots::kZero - 127);
  EXPECT_EQ(rows.block(1)[65], byte_dots::kZero);
  EXPECT_EQ(rows.block(0)[0], byte_dots::kZero);
  EXPECT_EQ(rows.norm(16), 254.0);
  EXPECT_EQ(rows.unit(), 254.0);
  EXPECT_EQ(rows.rows_of(1, 2).first, 16U);
  EXPECT_EQ(rows.rows_of(1, 2).count, 1U);
}

TEST(ByteRows, ATableThatCannotBeSearchedIsRefused) {
  std::vector<float> values(6, 1.0F);
  const View<const float, 2> table(values, {3, 2});
  values[5] = std::nanf("");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { ByteRows(table, Metric::kDot, 1); }),
            "[NeighborTable] expected finite numbers, received nan at table[2, 1]");
  values[2] = -kInfinity;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { ByteRows(table, Metric::kCosine, 1); }),
            "[NeighborTable] expected finite numbers, received -inf at table[1, 0]");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              ByteRows(View<const float, 2>({}, {0, 2}), Metric::kDot, 1);
            }),
            "[NeighborTable] expected a table (V, d) of 1 to 4294967295 rows, received (0, 2)");
  const std::vector<float> wide(byte_dots::kWidest + 1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              ByteRows(View<const float, 2>(wide, {1, wide.size()}), Metric::kDot, 1);
            }),
            "[NeighborTable] expected rows of at most 131072 numbers, received (1, 131073)");
}

}  // namespace
}  // namespace firstlayer
