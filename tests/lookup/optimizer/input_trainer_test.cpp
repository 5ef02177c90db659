#include "firstlayer/lookup/optimizer/input_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::message_of;

constexpr std::size_t kVocabulary = 20;
constexpr std::size_t kContext = 6;
constexpr std::size_t kDim = 8;

InputEmbedding embedding() {
  Generator generator(1);
  return InputEmbedding({.vocabulary = kVocabulary, .context = kContext, .dim = kDim}, generator);
}

/// Batches (3, 4) and gradients for them.
class Batches {
 public:
  void next() {
    for (TokenId& id : ids.flat()) id = generator_.next_u32() % std::uint32_t{kVocabulary};
    generator_.fill_normal(dout.flat());
  }

  Tensor<TokenId, 2> ids{{3, 4}};
  Tensor<float, 3> dout{{3, 4, kDim}};
  Tensor<float, 3> out{{3, 4, kDim}};

 private:
  Generator generator_{2};
};

void train(InputTrainer& trainer, Batches& batches, int steps, unsigned threads = 1) {
  for (int step = 0; step < steps; ++step) {
    batches.next();
    trainer.forward(batches.ids, batches.out, threads);
    trainer.backward_step(batches.dout, threads);
  }
}

void expect_equal(const InputEmbedding& expected, const InputEmbedding& received) {
  EXPECT_EQ(difference(expected.token_table().flat(), received.token_table().flat()), "");
  EXPECT_EQ(difference(expected.position_table().flat(), received.position_table().flat()), "");
}

const InputTrainerOptions& adamw_and_sgd() {
  static const InputTrainerOptions options{.tokens = AdamW{.lr = 0.01}, .positions = Sgd{.lr = 0.1, .momentum = 0.9}};
  return options;
}

TEST(InputTrainer, StepsEachTableByItsOwnGradient) {
  InputTrainer trainer(embedding(), adamw_and_sgd());
  InputEmbedding apart = embedding();
  TableOptimizer tokens(apart.mutable_token_table(), *adamw_and_sgd().tokens);
  TableOptimizer positions(apart.mutable_position_table(), *adamw_and_sgd().positions);
  Batches batches;
  const std::vector<TokenId> places = {0, 1, 2, 3};
  RowGradient dpositions;
  for (int step = 0; step < 12; ++step) {
    train(trainer, batches, 1);
    tokens.step(RowGroups(batches.ids, kVocabulary), batches.dout);
    dpositions.assign(places, kDim);
    position_gradient(batches.dout, dpositions.rows());
    positions.step(dpositions);
    tokens.settle();
    positions.settle();
  }
  expect_equal(apart, trainer.embedding());
  EXPECT_EQ(trainer.steps(), 12U);
}

TEST(InputTrainer, ForwardReadsRowsThatAreUpToDate) {
  InputTrainer lazy(embedding(), adamw_and_sgd());
  InputTrainer settled(embedding(), adamw_and_sgd());
  Batches one;
  Batches two;
  for (int step = 0; step < 12; ++step) {
    train(lazy, one, 1);
    train(settled, two, 1);
    settled.embedding();
    one.next();
    two.next();
    lazy.forward(one.ids, one.out);
    settled.forward(two.ids, two.out);
    EXPECT_EQ(difference(two.out.flat(), one.out.flat()), "");
  }
}

TEST(InputTrainer, GivesTheSameInTwoPhasesAndOnThreeThreads) {
  InputTrainer fused(embedding(), adamw_and_sgd());
  InputTrainer phases(embedding(), adamw_and_sgd());
  Batches one;
  Batches two;
  train(fused, one, 10, 3);
  for (int step = 0; step < 10; ++step) {
    two.next();
    phases.forward(two.ids, two.out, 1);
    phases.backward(two.dout, 1);
    EXPECT_GT(clip_gradients(phases.gradients(), 1e9), 0);
    phases.step(1);
  }
  expect_equal(fused.embedding(), phases.embedding());
}

TEST(InputTrainer, ClippedGradientsMakeASmallerStep) {
  InputTrainer trainer(embedding(), {.tokens = Sgd{.lr = 1}, .positions = Sgd{.lr = 1}});
  Batches batches;
  batches.next();
  trainer.forward(batches.ids, batches.out);
  trainer.backward(batches.dout);
  clip_gradients(trainer.gradients(), 0.5);
  trainer.step();
  const InputEmbedding before = embedding();
  double square = 0;
  for (std::size_t i = 0; i < kVocabulary * kDim; ++i) {
    square += std::pow(before.token_table().flat()[i] - trainer.embedding().token_table().flat()[i], 2);
  }
  for (std::size_t i = 0; i < kContext * kDim; ++i) {
    square += std::pow(before.position_table().flat()[i] - trainer.embedding().position_table().flat()[i], 2);
  }
  EXPECT_NEAR(std::sqrt(square), 0.5, 1e-5);
}

/// loss = sum of out^3 / 3, so that dout = out^2.
double cubic_loss(const Tensor<float, 3>& out) {
  double loss = 0;
  for (const float x : out.flat()) loss += std::pow(static_cast<double>(x), 3) / 3;
  return loss;
}

TEST(InputTrainer, MovesByTheDerivativeOfALoss) {
  Batches batches;
  batches.next();
  InputTrainer trainer(embedding(), {.tokens = Sgd{.lr = 1}, .positions = Sgd{.lr = 1}});
  trainer.forward(batches.ids, batches.out);
  for (std::size_t i = 0; i < batches.dout.size(); ++i) {
    batches.dout.flat()[i] = batches.out.flat()[i] * batches.out.flat()[i];
  }
  trainer.backward_step(batches.dout);

  const auto expect_derivative = [&](bool positions, std::size_t i, double moved) {
    constexpr float kSmall = 1e-2F;
    double losses[2];
    for (int side = 0; side < 2; ++side) {
      InputEmbedding nearby = embedding();
      (positions ? nearby.mutable_position_table() : nearby.mutable_token_table()).flat()[i] += side ? kSmall : -kSmall;
      losses[side] = cubic_loss(nearby.forward(batches.ids));
    }
    EXPECT_NEAR((losses[1] - losses[0]) / (2 * kSmall), moved, 2e-3 * (1 + std::fabs(moved))) << positions << " " << i;
  };
  const InputEmbedding before = embedding();
  for (std::size_t i = 0; i < kVocabulary * kDim; ++i) {
    expect_derivative(false, i, before.token_table().flat()[i] - trainer.embedding().token_table().flat()[i]);
  }
  for (std::size_t i = 0; i < kContext * kDim; ++i) {
    expect_derivative(true, i, before.position_table().flat()[i] - trainer.embedding().position_table().flat()[i]);
  }
}

TEST(InputTrainer, LeavesAFrozenTableAlone) {
  Batches batches;
  InputTrainer tokens_only(embedding(), {.tokens = Sgd{}});
  train(tokens_only, batches, 3);
  EXPECT_EQ(tokens_only.positions(), nullptr);
  EXPECT_EQ(tokens_only.steps(), 3U);
  EXPECT_EQ(difference(embedding().position_table().flat(), tokens_only.embedding().position_table().flat()), "");
  EXPECT_NE(difference(embedding().token_table().flat(), tokens_only.embedding().token_table().flat()), "");
  InputTrainer positions_only(embedding(), {.positions = Sgd{}});
  train(positions_only, batches, 3);
  EXPECT_EQ(positions_only.steps(), 3U);
  EXPECT_EQ(difference(embedding().token_table().flat(), positions_only.embedding().token_table().flat()), "");
  EXPECT_NE(difference(embedding().position_table().flat(), positions_only.embedding().position_table().flat()), "");
}

TEST(InputTrainer, LearnsWithoutPositions) {
  testing::TemporaryFolder folder;
  InputTrainer trainer(InputEmbedding(std::move(embedding()).token_table()), {.tokens = Sgd{}});
  Batches batches;
  train(trainer, batches, 2);
  trainer.save(folder / "checkpoint");
  InputTrainer loaded = InputTrainer::load(folder / "checkpoint", {.tokens = Sgd{}});
  EXPECT_EQ(loaded.steps(), 2U);
  EXPECT_FALSE(loaded.embedding().has_positions());
  expect_equal(trainer.embedding(), loaded.embedding());
}

TEST(InputTrainer, SavedAndLoadedGoesOnToTheBit) {
  testing::TemporaryFolder folder;
  InputTrainer trainer(embedding(), adamw_and_sgd());
  Batches batches;
  train(trainer, batches, 7);
  trainer.set_learning_rate(0.003);
  trainer.save(folder / "checkpoint");
  InputTrainer loaded = InputTrainer::load(folder / "checkpoint", {.tokens = AdamW{}, .positions = Sgd{}});
  EXPECT_EQ(loaded.steps(), 7U);
  EXPECT_EQ(loaded.tokens()->learning_rate(), 0.003);
  Batches again;
  for (int step = 0; step < 7; ++step) again.next();
  train(trainer, batches, 9);
  train(loaded, again, 9);
  expect_equal(trainer.embedding(), loaded.embedding());
  EXPECT_THROW(InputTrainer::load(folder / "checkpoint", {.tokens = Adam{}}), FormatError);
  EXPECT_THROW(InputTrainer::load(folder / "none", {.tokens = AdamW{}}), FileError);
}

TEST(InputTrainer, TakesBothStepsWhenOneGradientIsNotFinite) {
  InputTrainer trainer(embedding(), {.tokens = Sgd{}, .positions = Sgd{}});
  Batches batches;
  batches.next();
  batches.ids.view()(1, 2) = 17;
  batches.dout.view()(1, 2, 5) = std::numeric_limits<float>::quiet_NaN();
  trainer.forward(batches.ids, batches.out);
  EXPECT_EQ(
      message_of<NonFiniteGradient>([&] { trainer.backward_step(batches.dout); }),
      "wte: [TableOptimizer::step] expected a finite gradient, received inf or NaN for row 17, column 5; the step "
      "was taken with zeros in place of numbers that are not finite");
  EXPECT_EQ(trainer.tokens()->steps(), 1U);
  EXPECT_EQ(trainer.positions()->steps(), 1U);
}

TEST(InputTrainer, RefusesCallsOutOfTurn) {
  InputTrainer trainer(embedding(), adamw_and_sgd());
  Batches batches;
  batches.next();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { trainer.backward_step(batches.dout); }),
            "[InputTrainer::backward_step] expected a forward() since the last step, received none");
  trainer.forward(batches.ids, batches.out);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { trainer.step(); }),
            "[InputTrainer::step] expected a backward() since the last step, received none");
  EXPECT_THROW(trainer.gradients(), std::invalid_argument);
  Tensor<float, 3> narrow({3, 4, kDim - 1});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { trainer.backward_step(narrow); }),
            "[InputTrainer::backward_step] expected dout of shape (B, T, d) = (3, 4, 8), received (3, 4, 7)");
  trainer.backward_step(batches.dout);
  EXPECT_THROW(trainer.backward_step(batches.dout), std::invalid_argument);
  batches.ids.view()(2, 1) = kVocabulary;
  EXPECT_THROW(trainer.forward(batches.ids, batches.out), std::out_of_range);
  EXPECT_THROW(trainer.backward_step(batches.dout), std::invalid_argument);
  Tensor<TokenId, 2> long_rows({1, kContext + 1});
  Tensor<float, 3> long_out({1, kContext + 1, kDim});
  EXPECT_THROW(trainer.forward(long_rows, long_out), std::out_of_range);
}

TEST(InputTrainer, RefusesOptionsThatDoNotFit) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { InputTrainer(embedding(), {}); }),
            "[InputTrainer] expected an optimizer for a table, received none");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              InputTrainer(InputEmbedding(Tensor<float, 2>({2, 2})), {.tokens = Sgd{}, .positions = Sgd{}});
            }),
            "[InputTrainer] expected no optimizer for positions, since there is no position table, received one");
  InputTrainer trainer(embedding(), {.tokens = Sgd{.lr = 0.5}, .positions = SparseAdam{}});
  EXPECT_THROW(trainer.set_learning_rate(0), std::invalid_argument);
  EXPECT_EQ(trainer.tokens()->learning_rate(), 0.5);
}

}  // namespace
}  // namespace firstlayer
