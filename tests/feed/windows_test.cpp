#include "firstlayer/feed/windows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/feed/verdict.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

std::size_t count(std::size_t ids, std::size_t context, std::size_t stride) {
  return plan_windows(ids, context, stride).count;
}

TEST(PlanWindows, CountsTheStartsOfPythonsRange) {
  EXPECT_EQ(count(5145, 4, 4), 1286U);
  EXPECT_EQ(count(5145, 256, 128), 39U);
  EXPECT_EQ(count(5, 4, 1), 1U);
  EXPECT_EQ(count(5, 4, 100), 1U);
  EXPECT_EQ(count(6, 4, 1), 2U);
  EXPECT_EQ(count(12, 4, 4), 2U);  // the window at 8 would have no target for its last id
  EXPECT_EQ(count(13, 4, 4), 3U);
  EXPECT_EQ(count(2, 1, 1), 1U);
}

TEST(PlanWindows, DoesNotOverflow) {
  EXPECT_EQ(count(SIZE_MAX, 1, 1), SIZE_MAX - 1);
  EXPECT_EQ(count(SIZE_MAX, SIZE_MAX - 1, SIZE_MAX), 1U);
}

TEST(PlanWindows, RefusesWhatGivesNoWindow) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { plan_windows(4, 256, 128); }),
            "[plan_windows] expected more ids than context 256, received 4");
  EXPECT_THROW(plan_windows(4, 4, 1), std::invalid_argument);
  EXPECT_THROW(plan_windows(0, 1, 1), std::invalid_argument);
  EXPECT_EQ(message_of<std::invalid_argument>([] { plan_windows(10, 4, 0); }),
            "[plan_windows] expected stride of at least 1, received 0");
  EXPECT_EQ(message_of<std::invalid_argument>([] { plan_windows(10, 0, 4); }),
            "[plan_windows] expected context of at least 1, received 0");
}

std::vector<TokenId> copied(View<const TokenId, 2> view) { return {view.flat().begin(), view.flat().end()}; }

TEST(CopyWindows, ShiftsTargetsByOne) {
  const std::vector<TokenId> ids = {10, 11, 12, 13, 14, 15};
  const WindowPlan plan = plan_windows(ids.size(), 3, 2);
  ASSERT_EQ(plan.count, 2U);
  Tensor<TokenId, 2> inputs({3, 3});
  Tensor<TokenId, 2> targets({3, 3});
  copy_windows(ids, plan, std::vector<std::size_t>{1, 0, 1}, inputs, targets);
  EXPECT_EQ(copied(inputs), (std::vector<TokenId>{12, 13, 14, 10, 11, 12, 12, 13, 14}));
  EXPECT_EQ(copied(targets), (std::vector<TokenId>{13, 14, 15, 11, 12, 13, 13, 14, 15}));
}

TEST(CopyWindows, ReadsTheLastIdOnlyAsATarget) {
  const std::vector<TokenId> ids = testing::verdict_ids();
  ASSERT_EQ(ids.size(), 5145U);
  const WindowPlan plan = plan_windows(ids.size(), 4, 4);
  Tensor<TokenId, 2> inputs({1, 4});
  Tensor<TokenId, 2> targets({1, 4});
  copy_windows(ids, plan, std::vector<std::size_t>{plan.count - 1}, inputs, targets);
  EXPECT_EQ(copied(targets), (std::vector<TokenId>(ids.end() - 4, ids.end())));
}

TEST(CopyWindows, RefusesWhatDoesNotFitAndWritesNothing) {
  const std::vector<TokenId> ids(13, 7);
  const WindowPlan plan = plan_windows(ids.size(), 4, 4);
  Tensor<TokenId, 2> inputs({2, 4});
  Tensor<TokenId, 2> targets({2, 4});
  Tensor<TokenId, 2> other({4, 2});
  const std::vector<std::size_t> windows = {0, 3};
  EXPECT_EQ(message_of<std::out_of_range>([&] { copy_windows(ids, plan, windows, inputs, targets); }),
            "[copy_windows] expected windows below 3, received 3 at b=1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { copy_windows(ids, plan, windows, other, targets); }),
            "[copy_windows] expected inputs of shape (B, T) = (2, 4), received (4, 2)");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { copy_windows(ids, plan, windows, inputs, other); }),
            "[copy_windows] expected targets of shape (B, T) = (2, 4), received (4, 2)");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { copy_windows(std::span(ids).first(12), plan, windows, inputs, targets); }),
            "[copy_windows] expected ids for the 3 windows of the plan, received 12 ids, enough for 2");
  EXPECT_THROW(copy_windows({}, plan, windows, inputs, targets), std::invalid_argument);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              copy_windows(ids, {4, 0, 1}, windows, inputs, targets);
            }),
            "[copy_windows] expected a plan with context and stride of at least 1, received context 4 and stride 0");
  EXPECT_EQ(copied(inputs), std::vector<TokenId>(8, 0));
  EXPECT_EQ(copied(targets), std::vector<TokenId>(8, 0));
}

TEST(TruncateRows, KeepsTheFirstIdsOfEachRow) {
  const std::vector<TokenId> ids = {1, 2, 3, 4, 5, 6};
  const View<const TokenId, 2> rows(ids, {2, 3});
  const Tensor<TokenId, 2> two = truncate_rows(rows, 2);
  EXPECT_EQ(two.shape(), (Shape<2>{2, 2}));
  EXPECT_EQ(copied(two), (std::vector<TokenId>{1, 2, 4, 5}));
  EXPECT_EQ(copied(truncate_rows(rows, 9)), ids);
  EXPECT_THROW(truncate_rows(rows, 0), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
