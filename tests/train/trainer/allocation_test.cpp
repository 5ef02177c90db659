// A step allocates nothing once the first ones have grown what it works in, whatever it does.

#include <gtest/gtest.h>

#include <vector>

#include "firstlayer/train/trainer/trainer.h"
#include "tests/counted_allocations.h"

namespace firstlayer {
namespace {

using testing::allocations;

constexpr GptConfig kTiny = {.vocabulary = 50, .context = 16, .layers = 2, .heads = 2, .dim = 16};

/// What steps allocate from the third epoch on, beside the order of each epoch.
std::size_t allocations_of_steps(const GptConfig& config, TrainerOptions options) {
  options.batches = {.batch_size = 4, .context = 16, .held_out = 0.2};
  std::vector<TokenId> ids(1000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i * i % 50);
  GptParameters parameters = random_gpt_parameters(config, 1);
  Trainer trainer(parameters, ids, options);
  const std::size_t steps = 2 * trainer.batches().batches();  // of `accumulate` batches each
  for (std::size_t step = 0; step < steps; ++step) trainer.step();
  const std::size_t before = allocations;
  for (std::size_t step = 0; step < steps; ++step) trainer.step();
  return allocations - before - 2 * options.accumulate;
}

TEST(Allocation, OfAStepIsNothing) {
  for (const unsigned threads : {1U, 3U}) {
    TrainerOptions options;
    options.threads = threads;
    EXPECT_EQ(allocations_of_steps(kTiny, options), 0) << "clipped, threads " << threads;
    options.clip.reset();
    EXPECT_EQ(allocations_of_steps(kTiny, options), 0) << "not clipped, threads " << threads;
    options.accumulate = 3;
    EXPECT_EQ(allocations_of_steps(kTiny, options), 0) << "accumulated, threads " << threads;
  }
}

TEST(Allocation, OfAStepIsNothingForAnyHeadAndPosition) {
  for (const PositionScheme position : {PositionScheme::kLearned, PositionScheme::kRotary, PositionScheme::kAlibi}) {
    GptConfig config = kTiny;
    config.tied = false;
    config.position = position;
    EXPECT_EQ(allocations_of_steps(config, {}), 0) << scheme_name(position);
  }
}

}  // namespace
}  // namespace firstlayer
