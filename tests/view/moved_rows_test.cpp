#include "firstlayer/view/moved_rows.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

/// Rows of two numbers.
View<const float, 2> rows(const std::vector<float>& values) { return {values, {values.size() / 2, 2}}; }

TEST(MovedRows, TellsWhoWasMetAndHowFarEachMoved) {
  const std::vector<float> start = {0, 0, 1, 1, 2, 2, 5, 5, 0.0F, 7};
  const std::vector<float> now = {3, 4, 1, 1, 2, 3, 5, 5, -0.0F, 7};
  const std::vector<std::uint64_t> counts = {2, 1, 1, 0, 0};
  const MovedRows moved = moved_rows(rows(start), rows(now), counts);
  ASSERT_EQ(moved.rows.size(), 5U);
  EXPECT_EQ(moved.rows[0].met, 2U);
  EXPECT_EQ(moved.rows[0].distance, 5.0);
  EXPECT_TRUE(moved.rows[0].changed);
  EXPECT_EQ(moved.rows[1].met, 1U);
  EXPECT_FALSE(moved.rows[1].changed);
  EXPECT_EQ(moved.rows[3].met, 0U);
  EXPECT_TRUE(moved.rows[4].changed) << "the sign of a zero is a bit";
  EXPECT_EQ(moved.rows[4].distance, 0.0);

  EXPECT_EQ(moved.met.rows, 3U);
  EXPECT_EQ(moved.met.changed, 2U);
  EXPECT_EQ(moved.met.median_distance, 1.0);
  EXPECT_EQ(moved.not_met.rows, 2U);
  EXPECT_EQ(moved.not_met.changed, 1U);
  EXPECT_EQ(moved.not_met.median_distance, 0.0);
}

TEST(MovedRows, TakesTheMeanOfTheTwoInTheMiddle) {
  const std::vector<float> start(8), now = {1, 0, 8, 0, 2, 0, 4, 0};
  EXPECT_EQ(moved_rows(rows(start), rows(now), std::vector<std::uint64_t>(4)).not_met.median_distance, 3.0);
}

TEST(MovedRows, IsTheSameOnAnyNumberOfThreads) {
  Tensor<float, 2> start({501, 19}), now({501, 19});
  Generator generator(1);
  generator.fill_normal(start.flat(), 0.0, 1.0);
  generator.fill_normal(now.flat(), 0.0, 1.0);
  const std::vector<std::uint64_t> counts(501);
  const MovedRows one = moved_rows(start, now, counts, 1);
  const MovedRows three = moved_rows(start, now, counts, 3);
  for (std::size_t i = 0; i < 501; ++i) EXPECT_EQ(one.rows[i].distance, three.rows[i].distance) << i;
}

TEST(MovedRows, RefusesOtherShapes) {
  const std::vector<float> two(4), three(6);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { moved_rows(rows(two), rows(three), {}); }),
            "[moved_rows] expected a table of the start's shape (2, 2), received (3, 2)");
  const std::vector<std::uint64_t> counts(3);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { moved_rows(rows(two), rows(two), counts); }),
            "[moved_rows] expected counts of V = 2 ids, received 3");
}

}  // namespace
}  // namespace firstlayer
