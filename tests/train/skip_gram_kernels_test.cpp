#include "firstlayer/train/skip_gram_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer::skip_gram {
namespace {

/// Tables of random rows; the columns from `dim` on are zeros.
class RandomTables {
 public:
  RandomTables(std::size_t rows, std::size_t dim, std::uint64_t seed)
      : inputs_({rows, (dim + kLanes - 1) / kLanes * kLanes}), outputs_(inputs_.shape()) {
    Generator generator(seed);
    for (Tensor<float, 2>* table : {&inputs_, &outputs_}) {
      for (std::size_t row = 0; row < rows; ++row) {
        generator.fill_normal(table->view()[row].first(dim), 0.0, 1.0 / std::sqrt(static_cast<double>(dim)));
      }
    }
  }

  Tables tables() { return {inputs_.flat().data(), outputs_.flat().data(), inputs_.dim(1)}; }
  std::span<float> input(std::size_t row) { return inputs_.view()[row]; }
  std::span<float> output(std::size_t row) { return outputs_.view()[row]; }
  std::span<const float> inputs() const { return inputs_.flat(); }
  std::span<const float> outputs() const { return outputs_.flat(); }

 private:
  Tensor<float, 2> inputs_;
  Tensor<float, 2> outputs_;
};

/// Steps with rows of a vocabulary of `rows`, so few that some come twice in a step.
StepList random_steps(std::size_t rows, std::size_t count, Generator& generator) {
  StepList list;
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t step_rows = s == 0 ? kMaxStepRows : 1 + generator.next_u32() % kMaxStepRows;
    const std::size_t positives = generator.next_u32() % (step_rows + 1);
    list.steps.push_back({generator.next_u32() % static_cast<TokenId>(rows), static_cast<std::uint16_t>(positives),
                          static_cast<std::uint16_t>(step_rows - positives), 0.05F});
    for (std::size_t r = 0; r < step_rows; ++r) {
      list.rows.push_back(generator.next_u32() % static_cast<TokenId>(rows));
    }
  }
  return list;
}

class SkipGramKernels : public testing::OnTarget {};

TEST_P(SkipGramKernels, EqualTheReference) {
  Generator generator(5);
  for (const std::size_t dim : {1U, 3U, 16U, 17U, 33U, 100U, 128U, 150U, 256U, 300U}) {
    SCOPED_TRACE(dim);
    constexpr std::size_t kRows = 40;
    const StepList list = random_steps(kRows, 12, generator);
    RandomTables expected(kRows, dim, 6), received(kRows, dim, 6);
    const double expected_loss = run_reference(expected.tables(), list);
    const double received_loss = run(received.tables(), list);
    EXPECT_EQ(testing::difference(expected.inputs(), received.inputs()), "");
    EXPECT_EQ(testing::difference(expected.outputs(), received.outputs()), "");
    EXPECT_EQ(expected_loss, received_loss);
    EXPECT_EQ(run(received.tables(), {}), 0.0);
  }
}

TEST_P(SkipGramKernels, EqualTheReferenceOnNumbersThatAreNotFinite) {
  Generator generator(7);
  const StepList list = random_steps(3, 4, generator);
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    RandomTables tables(3, 20, 6);
    for (std::size_t row = 0; row < 3; ++row) tables.input(row)[5] = wrong;
    EXPECT_FALSE(std::isfinite(run(tables.tables(), list)));
    RandomTables again(3, 20, 6);
    for (std::size_t row = 0; row < 3; ++row) again.input(row)[5] = wrong;
    EXPECT_FALSE(std::isfinite(run_reference(again.tables(), list)));
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, SkipGramKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

TEST(Margin, IsTheLogisticFunction) {
  EXPECT_EQ(margin_reference(0.0F).slope, 0.5F);
  EXPECT_FLOAT_EQ(margin_reference(0.0F).loss, 0.6931472F);
  for (float y = -79.0F; y <= 79.0F; y += 0.003F) {
    const Margin margin = margin_reference(y);
    const double slope = 1.0 / (1.0 + std::exp(static_cast<double>(y)));
    const double loss =
        (y > 0 ? 0.0 : -static_cast<double>(y)) + std::log1p(std::exp(-std::abs(static_cast<double>(y))));
    ASSERT_NEAR(margin.slope, slope, slope * 0x1p-21) << y;
    ASSERT_NEAR(margin.loss, loss, loss * 0x1p-21) << y;
  }
  for (const float far : {100.0F, std::numeric_limits<float>::infinity()}) {
    EXPECT_LT(margin_reference(far).slope, 1e-34F);
    EXPECT_LT(margin_reference(far).loss, 1e-34F);
    EXPECT_EQ(margin_reference(-far).slope, 1.0F);
    EXPECT_EQ(margin_reference(-far).loss, far);
  }
  EXPECT_TRUE(std::isnan(margin_reference(std::numeric_limits<float>::quiet_NaN()).loss));
}

TEST(SkipGramReference, AStepByHand) {
  // v = (1, 2), u0 = (0, 0), u1 = (2, -1): both dot products are 0, so both slopes are 1/2; the rate is 1/4.
  RandomTables tables(2, 2, 1);
  tables.input(0)[0] = 1;
  tables.input(0)[1] = 2;
  tables.output(0)[0] = tables.output(0)[1] = 0;
  tables.output(1)[0] = 2;
  tables.output(1)[1] = -1;
  const StepList list{{{.input = 0, .positives = 1, .negatives = 1, .rate = 0.25F}}, {0, 1}};
  EXPECT_NEAR(run_reference(tables.tables(), list), 2 * std::log(2.0), 1e-6);
  const auto row = [](std::span<const float> numbers) { return std::vector<float>{numbers[0], numbers[1]}; };
  EXPECT_EQ(row(tables.output(0)), (std::vector<float>{0.125F, 0.25F}));   // u0 + 1/8 v
  EXPECT_EQ(row(tables.output(1)), (std::vector<float>{1.875F, -1.25F}));  // u1 - 1/8 v
  EXPECT_EQ(row(tables.input(0)), (std::vector<float>{0.75F, 2.125F}));    // v + 1/8 u0 - 1/8 u1
  EXPECT_NEAR(loss_of(tables.tables(), list), std::log1p(std::exp(-0.625)) + std::log1p(std::exp(-1.25)), 1e-12);
}

TEST(SkipGramReference, StepsAgainstTheGradient) {
  constexpr float kRate = 0.015625F;
  constexpr double kSmall = 1e-3;
  const StepList list{{{.input = 2, .positives = 2, .negatives = 3, .rate = kRate}}, {1, 4, 0, 3, 2}};
  RandomTables before(5, 7, 3), after(5, 7, 3);
  run_reference(after.tables(), list);
  const auto expect_slope = [&](std::span<float> numbers, std::span<const float> moved) {
    for (std::size_t k = 0; k < 7; ++k) {
      const float kept = numbers[k];
      numbers[k] = kept + static_cast<float>(kSmall);
      const double up = loss_of(before.tables(), list), above = numbers[k];
      numbers[k] = kept - static_cast<float>(kSmall);
      const double slope = (up - loss_of(before.tables(), list)) / (above - numbers[k]);
      numbers[k] = kept;
      EXPECT_NEAR((moved[k] - kept) / kRate, -slope, 2e-5);
    }
  };
  expect_slope(before.input(2), after.input(2));
  for (std::size_t row = 0; row < 5; ++row) expect_slope(before.output(row), after.output(row));
  EXPECT_EQ(testing::difference(before.input(0), after.input(0)), "") << "a row that is not in the step";
}

}  // namespace
}  // namespace firstlayer::skip_gram
