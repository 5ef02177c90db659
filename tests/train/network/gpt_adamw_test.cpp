#include "firstlayer/train/network/gpt_adamw.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/lookup/optimizer/non_finite_gradient.h"
#include "firstlayer/lookup/optimizer/table_optimizer.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

constexpr GptConfig kConfig = {.vocabulary = 50, .context = 8, .layers = 1, .heads = 2, .dim = 16};
constexpr AdamW kOptions = {.lr = 0.01, .weight_decay = 0.1};

GptParameters random_gradients(Generator& generator) {
  GptParameters gradients(kConfig);
  for (NamedGradient& each : gradients.named()) generator.fill_normal(each.numbers);
  return gradients;
}

TEST(GptAdamW, StepsTablesAsATableOptimizerDoes) {
  Generator generator(1);
  GptParameters parameters = random_gpt_parameters(kConfig, 1);
  Tensor<float, 2> table({50, 16});
  std::ranges::copy(parameters[0], table.flat().begin());
  GptAdamW optimizer(parameters, kOptions);
  TableOptimizer expected(table, kOptions);
  for (int step = 0; step < 3; ++step) {
    const GptParameters gradients = random_gradients(generator);
    optimizer.step(gradients, step + 1);
    expected.step_dense(gradients.matrix(0));
  }
  EXPECT_EQ(optimizer.steps(), 3U);
  EXPECT_EQ(testing::difference(table.flat(), parameters[0]), "");
}

TEST(GptAdamW, DecaysMatricesAlone) {
  GptParameters parameters = random_gpt_parameters(kConfig, 1);
  const GptParameters before = random_gpt_parameters(kConfig, 1);
  GptAdamW optimizer(parameters, kOptions);
  optimizer.step(GptParameters(kConfig));  // without a gradient nothing but decay moves
  for (std::size_t i = 0; i < parameters.layout().tensors().size(); ++i) {
    const GptTensor& tensor = parameters.layout().tensors()[i];
    for (std::size_t k = 0; k < tensor.size; ++k) {
      const float factor = tensor.is_matrix ? static_cast<float>(1 - 0.01 * 0.1) : 1.0F;
      ASSERT_EQ(parameters[i][k], before[i][k] * factor) << tensor.name;
    }
  }
}

TEST(GptAdamW, LeavesFrozenTensorsAlone) {
  Generator generator(2);
  GptParameters parameters = random_gpt_parameters(kConfig, 1);
  const GptParameters before = random_gpt_parameters(kConfig, 1);
  GptAdamW optimizer(parameters, kOptions);
  optimizer.set_frozen("h.0.mlp.c_fc.weight");
  EXPECT_EQ(optimizer.frozen(), std::vector<std::string>{"transformer.h.0.mlp.c_fc.weight"});
  const GptParameters gradients = random_gradients(generator);
  optimizer.step(gradients);
  const std::size_t frozen = parameters.layout().find("h.0.mlp.c_fc.weight").value();
  EXPECT_EQ(testing::difference(before[frozen], parameters[frozen]), "");
  EXPECT_NE(testing::difference(before[frozen + 1], parameters[frozen + 1]), "");
  optimizer.set_frozen("h.0.mlp.c_fc.weight", false);
  optimizer.step(gradients);
  EXPECT_NE(testing::difference(before[frozen], parameters[frozen]), "");
  EXPECT_THROW(optimizer.set_frozen("h.1.mlp.c_fc.weight"), std::invalid_argument);
}

TEST(GptAdamW, GoesOnFromItsMomentsAndStep) {
  Generator generator(3);
  GptParameters parameters = random_gpt_parameters(kConfig, 1);
  GptParameters resumed(kConfig);
  GptAdamW optimizer(parameters, kOptions);
  GptAdamW other(resumed, kOptions);
  optimizer.step(random_gradients(generator));
  std::ranges::copy(parameters.flat(), resumed.flat().begin());
  std::ranges::copy(optimizer.first_moments().flat(), other.mutable_first_moments().flat().begin());
  std::ranges::copy(optimizer.second_moments().flat(), other.mutable_second_moments().flat().begin());
  other.set_steps(optimizer.steps());
  const GptParameters gradients = random_gradients(generator);
  optimizer.set_learning_rate(0.003);
  other.set_learning_rate(0.003);
  optimizer.step(gradients);
  other.step(gradients);
  EXPECT_EQ(testing::difference(parameters.flat(), resumed.flat()), "");
}

TEST(GptAdamW, NamesAGradientThatIsNotFinite) {
  GptParameters parameters = random_gpt_parameters(kConfig, 1);
  GptAdamW optimizer(parameters, kOptions);
  GptParameters gradients(kConfig);
  gradients.at("h.0.ln_2.bias")[5] = std::numeric_limits<float>::infinity();
  gradients.at("h.0.attn.c_attn.weight")[2 * 48 + 3] = std::numeric_limits<float>::quiet_NaN();
  try {
    optimizer.step(gradients);
    FAIL();
  } catch (const NonFiniteGradient& error) {
    EXPECT_STREQ(error.what(),
                 "[GptAdamW::step] expected a finite gradient, received inf or NaN for "
                 "transformer.h.0.attn.c_attn.weight, row 2, column 3, at step 1; the step was taken with zeros in "
                 "place of numbers that are not finite");
    EXPECT_EQ(error.row(), 2U);
    EXPECT_EQ(error.column(), 3U);
  }
  EXPECT_EQ(optimizer.steps(), 1U);
  optimizer.step(GptParameters(kConfig));
}

TEST(GptAdamW, RefusesOptionsAndGradientsThatDoNotFit) {
  GptParameters parameters(kConfig);
  EXPECT_THROW(GptAdamW(parameters, AdamW{.lr = -1}), std::invalid_argument);
  EXPECT_THROW(GptAdamW(parameters, AdamW{.beta1 = 0.5}), std::invalid_argument);
  GptAdamW optimizer(parameters, kOptions);
  EXPECT_THROW(optimizer.set_learning_rate(-1), std::invalid_argument);
  EXPECT_EQ(optimizer.options().lr, 0.01);
  GptConfig other = kConfig;
  other.dim = 32;
  EXPECT_THROW(optimizer.step(GptParameters(other)), std::invalid_argument);
  EXPECT_EQ(optimizer.steps(), 0U);
}

}  // namespace
}  // namespace firstlayer
