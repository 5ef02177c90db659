#include "firstlayer/train/trainer/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::message_of;

constexpr GptConfig kTiny = {.vocabulary = 50, .context = 16, .layers = 1, .heads = 2, .dim = 16};

/// Ids of which each follows from the one before it, mostly.
std::vector<TokenId> some_ids(std::size_t count) {
  Generator generator(5);
  std::vector<TokenId> ids(count, 1);
  for (std::size_t i = 1; i < count; ++i) {
    ids[i] = generator.next_u32() % 8 == 0 ? generator.next_u32() % 50 : (ids[i - 1] * 3 + 1) % 50;
  }
  return ids;
}

TrainerOptions tiny_options() {
  TrainerOptions options;
  options.batches = {.batch_size = 4, .context = 16, .held_out = 0.2};
  options.schedule = CosineSchedule{.peak = 1e-2, .warmup = 5, .steps = 60};
  options.threads = 1;
  return options;
}

struct Learning {
  explicit Learning(const TrainerOptions& options = tiny_options())
      : parameters(random_gpt_parameters(kTiny, 1)), trainer(parameters, ids, options) {}

  std::vector<TokenId> ids = some_ids(2000);
  GptParameters parameters;
  Trainer trainer;
};

TEST(Trainer, LowersTheLossOnWhatItHasNotSeen) {
  Learning learning;
  const double before = *learning.trainer.held_out_loss();
  EXPECT_NEAR(before, std::log(50.0), 0.1);
  TrainingStep last{};
  for (int i = 0; i < 60; ++i) last = learning.trainer.step();
  EXPECT_EQ(last.step, 60U);
  EXPECT_EQ(learning.trainer.steps(), 60U);
  EXPECT_NEAR(last.learning_rate, 0, 1e-12);
  EXPECT_LT(last.loss, before - 1);
  EXPECT_LT(*learning.trainer.held_out_loss(), before - 1);
}

TEST(Trainer, TakesTheStepsOfItsParts) {
  Learning learning;
  GptParameters parameters = random_gpt_parameters(kTiny, 1);
  GptParameters gradients(kTiny);
  GptNetwork network(parameters, {4, 16}, {.threads = 1});
  GptAdamW optimizer(parameters, tiny_options().optimizer);
  TrainingBatches batches(learning.ids, tiny_options().batches);
  Tensor<TokenId, 2> inputs({4, 16}), targets({4, 16});
  for (std::uint64_t t = 1; t <= 3; ++t) {
    batches.copy(t - 1, inputs, targets);
    const double loss = network.backward(inputs, targets, gradients);
    const double norm = clip_gradients(gradients.named(), 1.0, 1);
    optimizer.set_learning_rate(learning_rate(tiny_options().schedule, t));
    optimizer.step(gradients, 1);
    const TrainingStep step = learning.trainer.step();
    EXPECT_EQ(step.loss, loss);
    EXPECT_EQ(step.norm, norm);
    EXPECT_EQ(difference(parameters.flat(), learning.parameters.flat()), "") << "step " << t;
  }
}

TEST(Trainer, GivesTheSameWithAndWithoutTheMemoryOfAGradient) {
  TrainerOptions options = tiny_options();
  options.clip = std::numeric_limits<double>::infinity();
  Learning kept(options);
  options.clip.reset();
  options.threads = 3;
  Learning fused(options);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(kept.trainer.step().loss, fused.trainer.step().loss);
    EXPECT_EQ(difference(kept.parameters.flat(), fused.parameters.flat()), "") << "step " << i;
  }
}

TEST(Trainer, AddsUpTheGradientsOfSeveralBatches) {
  TrainerOptions options = tiny_options();
  options.accumulate = 2;
  Learning learning(options);
  GptParameters parameters = random_gpt_parameters(kTiny, 1);
  GptNetwork network(parameters, {4, 16}, {.threads = 1});
  TrainingBatches batches(learning.ids, options.batches);
  Tensor<TokenId, 2> inputs({4, 16}), targets({4, 16});
  double mean = 0;
  for (std::uint64_t number = 0; number < 2; ++number) {
    batches.copy(number, inputs, targets);
    mean += network.loss(inputs, targets) / 2;
  }
  EXPECT_DOUBLE_EQ(learning.trainer.step().loss, mean);
  // The second step sees the third batch and the fourth.
  GptNetwork later(learning.parameters, {4, 16}, {.threads = 1});
  mean = 0;
  for (std::uint64_t number = 2; number < 4; ++number) {
    batches.copy(number, inputs, targets);
    mean += later.loss(inputs, targets) / 2;
  }
  EXPECT_DOUBLE_EQ(learning.trainer.step().loss, mean);
}

TEST(Trainer, GoesOnToTheBitFromItsParametersMomentsAndSteps) {
  Learning whole;
  Learning first;
  for (int i = 0; i < 7; ++i) {
    whole.trainer.step();
    first.trainer.step();
  }
  Learning second;
  std::ranges::copy(first.parameters.flat(), second.parameters.flat().begin());
  GptAdamW& from = first.trainer.optimizer();
  GptAdamW& to = second.trainer.optimizer();
  std::ranges::copy(from.first_moments().flat(), to.mutable_first_moments().flat().begin());
  std::ranges::copy(from.second_moments().flat(), to.mutable_second_moments().flat().begin());
  to.set_steps(from.steps());
  for (int i = 0; i < 30; ++i) EXPECT_EQ(whole.trainer.step().loss, second.trainer.step().loss);
  EXPECT_EQ(difference(whole.parameters.flat(), second.parameters.flat()), "");
}

TEST(Trainer, LeavesFrozenTensorsAlone) {
  TrainerOptions options = tiny_options();
  options.frozen = {"transformer.h.0.mlp.c_fc.weight"};
  Learning learning(options);
  const GptParameters start = random_gpt_parameters(kTiny, 1);
  for (int i = 0; i < 3; ++i) learning.trainer.step();
  EXPECT_EQ(difference(start.at("h.0.mlp.c_fc.weight"), learning.parameters.at("h.0.mlp.c_fc.weight")), "");
  EXPECT_NE(difference(start.at("wte.weight"), learning.parameters.at("wte.weight")), "");
}

TEST(Trainer, StopsAtALossThatIsNoNumberAndNamesStepAndTensor) {
  Learning learning;
  learning.trainer.step();
  learning.parameters.at("h.0.ln_1.weight")[3] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> before(learning.parameters.flat().begin(), learning.parameters.flat().end());
  const std::string message = message_of<NonFiniteLoss>([&] { learning.trainer.step(); });
  EXPECT_NE(message.find("in step 2: "), std::string::npos) << message;
  EXPECT_NE(message.find("h.0.ln_1.weight"), std::string::npos) << message;
  EXPECT_EQ(learning.trainer.steps(), 1U);
  EXPECT_EQ(difference(before, learning.parameters.flat()), "");
}

TEST(Trainer, RefusesWhatDoesNotFit) {
  GptParameters parameters = random_gpt_parameters(kTiny, 1);
  std::vector<TokenId> ids = some_ids(2000);
  const auto refusal = [&](const TrainerOptions& options) {
    return message_of<std::invalid_argument>([&] { Trainer(parameters, ids, options); });
  };
  TrainerOptions options = tiny_options();
  options.accumulate = 0;
  EXPECT_EQ(refusal(options), "[Trainer] expected accumulate of 1 or more, received 0");
  options = tiny_options();
  options.clip = 0.0;
  EXPECT_EQ(refusal(options), "[Trainer] expected clip above 0, received 0");
  ids[77] = 50;
  EXPECT_EQ(message_of<std::out_of_range>([&] { Trainer(parameters, ids, tiny_options()); }),
            "[Trainer] expected ids below V = 50, received 50 at place 77");
}

}  // namespace
}  // namespace firstlayer
