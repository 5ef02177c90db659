#include "firstlayer/train/trainer/training_batches.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

std::vector<TokenId> counted(std::size_t count) {
  std::vector<TokenId> ids(count);
  std::iota(ids.begin(), ids.end(), TokenId{0});
  return ids;
}

struct Batch {
  explicit Batch(const Shape<2>& shape) : inputs(shape), targets(shape) {}
  Tensor<TokenId, 2> inputs;
  Tensor<TokenId, 2> targets;
};

Batch batch_of(TrainingBatches& batches, std::uint64_t number) {
  Batch batch(batches.shape());
  batches.copy(number, batch.inputs, batch.targets);
  return batch;
}

std::vector<TokenId> starts(const Batch& batch) {
  std::vector<TokenId> starts;
  for (std::size_t b = 0; b < batch.inputs.dim(0); ++b) starts.push_back(batch.inputs.view()(b, 0));
  return starts;
}

TEST(TrainingBatches, CutTheTextInTwoAndTheFirstPartInWindows) {
  const std::vector<TokenId> ids = counted(100);
  TrainingBatches batches(ids, {.batch_size = 3, .context = 4, .held_out = 0.2});
  EXPECT_EQ(batches.ids(), 80U);
  EXPECT_EQ(batches.held_out_ids(), 20U);
  EXPECT_EQ(batches.batches(), 6U);  // 19 windows, one of which fills no batch
  EXPECT_EQ(batches.held_out_windows(), 4U);

  std::set<TokenId> seen;
  for (std::uint64_t number = 0; number < 6; ++number) {
    const Batch batch = batch_of(batches, number);
    for (std::size_t b = 0; b < 3; ++b) {
      const TokenId start = batch.inputs.view()(b, 0);
      EXPECT_EQ(start % 4, 0U);
      EXPECT_TRUE(seen.insert(start).second) << start << " came twice";
      for (TokenId t = 0; t < 4; ++t) {
        EXPECT_EQ(batch.inputs.view()(b, t), start + t);
        EXPECT_EQ(batch.targets.view()(b, t), start + t + 1);
        EXPECT_LT(batch.targets.view()(b, t), 80U);
      }
    }
  }
  Batch held({2, 4});
  batches.copy_held_out(2, held.inputs, held.targets);
  EXPECT_EQ(held.inputs.view()(0, 0), 88U);
  EXPECT_EQ(held.targets.view()(1, 3), 96U);
}

TEST(TrainingBatches, AreTheSameInAnyOrderOfAsking) {
  const std::vector<TokenId> ids = counted(400);
  const TrainingBatchOptions options = {.batch_size = 4, .context = 8, .seed = 7};
  TrainingBatches forward(ids, options);
  TrainingBatches backward(ids, options);
  std::vector<std::vector<TokenId>> expected;
  for (std::uint64_t number = 0; number < 40; ++number) expected.push_back(starts(batch_of(forward, number)));
  for (std::uint64_t number = 40; number-- > 0;) {
    EXPECT_EQ(starts(batch_of(backward, number)), expected[number]) << "batch " << number;
  }
  EXPECT_NE(expected[0], expected[forward.batches()]) << "the second epoch has the order of the first";
  TrainingBatches other(ids, {.batch_size = 4, .context = 8, .seed = 8});
  EXPECT_NE(starts(batch_of(other, 0)), expected[0]);
}

TEST(TrainingBatches, HoldNothingOutOnRequest) {
  const std::vector<TokenId> ids = counted(9);
  const TrainingBatches batches(ids, {.batch_size = 2, .context = 4, .held_out = 0});
  EXPECT_EQ(batches.ids(), 9U);
  EXPECT_EQ(batches.batches(), 1U);
  EXPECT_EQ(batches.held_out_windows(), 0U);
}

TEST(TrainingBatches, SayWhatIsTooShort) {
  const auto refusal = [](std::size_t count, const TrainingBatchOptions& options) {
    const std::vector<TokenId> ids = counted(count);
    return message_of<std::invalid_argument>([&] { TrainingBatches(ids, options); });
  };
  EXPECT_EQ(refusal(8, {.batch_size = 2, .context = 4, .held_out = 0}),
            "[TrainingBatches] expected ids to train on for 2 windows of T + 1 = 5, received 8, which make 1");
  EXPECT_EQ(refusal(20, {.batch_size = 2, .context = 4, .held_out = 0.2}),
            "[TrainingBatches] expected ids to hold out for 1 windows of T + 1 = 5, received 4, which make 0");
  EXPECT_EQ(refusal(0, {.batch_size = 1, .context = 4, .held_out = 0}),
            "[TrainingBatches] expected ids to train on for 1 windows of T + 1 = 5, received 0, which make 0");
  EXPECT_EQ(refusal(20, {.batch_size = 0}),
            "[TrainingBatches] expected a batch (B, T) of 1 or more ids, received (0, 64)");
  EXPECT_EQ(refusal(20, {.held_out = 1}), "[TrainingBatches] expected held_out of 0 or more and below 1, received 1");
}

}  // namespace
}  // namespace firstlayer
