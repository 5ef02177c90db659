#include "firstlayer/feed/batches.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/feed/windows.h"
#include "tests/feed/verdict.h"
#include "tests/sha256.h"

namespace firstlayer {
namespace {

std::vector<std::size_t> copied(std::span<const std::size_t> batch) { return {batch.begin(), batch.end()}; }

TEST(BatchOrder, KeepsTheShortLastBatchUnlessItIsDropped) {
  const BatchOrder all(10, {.batch_size = 4});
  ASSERT_EQ(all.batches(), 3U);
  EXPECT_EQ(copied(all.batch(0)), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(copied(all.batch(2)), (std::vector<std::size_t>{8, 9}));
  EXPECT_EQ(BatchOrder(10, {.batch_size = 4, .drop_last = true}).batches(), 2U);
  EXPECT_EQ(BatchOrder(1286, {.batch_size = 8, .drop_last = true}).batches(), 160U);
  EXPECT_EQ(BatchOrder(8, {.batch_size = 4}).batches(), 2U);
  EXPECT_EQ(BatchOrder(3, {.batch_size = SIZE_MAX}).batches(), 1U);
}

TEST(BatchOrder, RefusesToHaveNoBatch) {
  EXPECT_THROW(BatchOrder(0, {}), std::invalid_argument);
  EXPECT_THROW(BatchOrder(10, {.batch_size = 0}), std::invalid_argument);
  try {
    BatchOrder(7, {.batch_size = 8, .drop_last = true});
    FAIL() << "nothing thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "[BatchOrder] expected at least batch_size = 8 windows with drop_last, received 7");
  }
  try {
    BatchOrder(10, {.batch_size = 4}).batch(3);
    FAIL() << "nothing thrown";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "[BatchOrder::batch] expected a batch below 3, received 3");
  }
}

TEST(BatchOrder, ShufflesTheVerdictAsPyTorchDoes) {
  const std::vector<TokenId> ids = testing::verdict_ids();
  const WindowPlan plan = plan_windows(ids.size(), 4, 4);
  const BatchOrder order(plan.count, {.batch_size = 8, .drop_last = true, .shuffle = true, .seed = 123});
  Tensor<TokenId, 2> inputs({8, 4});
  Tensor<TokenId, 2> targets({8, 4});
  copy_windows(ids, plan, order.batch(0), inputs, targets);
  const auto row = [&](std::size_t b) {
    const auto values = inputs.view()[b];
    return std::vector<TokenId>(values.begin(), values.end());
  };
  EXPECT_EQ(row(0), (std::vector<TokenId>{326, 7284, 35924, 262}));
  EXPECT_EQ(row(1), (std::vector<TokenId>{460, 1560, 345, 287}));
  EXPECT_EQ(row(2), (std::vector<TokenId>{1540, 558, 286, 2282}));
}

/// All window numbers of the epoch in order, as 64-bit integers, hashed.
std::string epoch_hash(const BatchOrder& order) {
  std::vector<std::uint64_t> windows;
  for (std::size_t index = 0; index < order.batches(); ++index) {
    const auto batch = order.batch(index);
    windows.insert(windows.end(), batch.begin(), batch.end());
  }
  return testing::sha256_hex(std::as_bytes(std::span(windows)));
}

/// tests/data/feed/torch.txt: loaders of PyTorch, each with three epochs.
TEST(BatchOrder, GivesTheBatchesOfPyTorchsDataLoader) {
  std::ifstream lines(FIRSTLAYER_TEST_DATA "/feed/torch.txt");
  std::string line;
  std::getline(lines, line);  // who wrote the file
  int loaders = 0;
  while (std::getline(lines, line)) {
    SCOPED_TRACE(line);
    std::istringstream loader(line);
    std::string word;
    std::size_t windows = 0;
    BatchOptions options;
    std::int64_t seed = 0;
    loader >> word >> windows >> options.batch_size >> options.drop_last >> options.shuffle >> seed;
    ASSERT_EQ(word, "loader");
    options.seed = static_cast<std::uint64_t>(seed);
    BatchOrder order(windows, options);
    for (int epoch = 0; epoch < 3; ++epoch) {
      if (epoch > 0) order.next_epoch();
      ASSERT_TRUE(std::getline(lines, line));
      std::istringstream expected(line);
      std::size_t batches = 0;
      std::string hash;
      expected >> word >> batches >> hash;
      EXPECT_EQ(order.batches(), batches);
      EXPECT_EQ(epoch_hash(order), hash) << "epoch " << epoch;
      for (std::size_t window : order.batch(0)) {
        std::size_t expected_window = 0;
        expected >> expected_window;
        EXPECT_EQ(window, expected_window);
      }
    }
    ++loaders;
  }
  EXPECT_EQ(loaders, 14);
}

}  // namespace
}  // namespace firstlayer
