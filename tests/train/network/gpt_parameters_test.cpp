#include "firstlayer/train/network/gpt_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"
#include "tests/same_bits.h"

namespace firstlayer {
namespace {

std::string text_of(const GptLayout& layout) {
  std::string text;
  for (const GptTensor& tensor : layout.tensors()) {
    text.append(tensor.name).append(" ").append(shape_text(tensor.shape)).append("\n");
  }
  return text;
}

TEST(GptLayout, HasTheNamesAndShapesOfHuggingFace) {
  EXPECT_EQ(text_of(GptLayout({.vocabulary = 11, .context = 5, .layers = 1, .heads = 2, .dim = 4})),
            "transformer.wte.weight (11, 4)\n"
            "transformer.wpe.weight (5, 4)\n"
            "transformer.h.0.ln_1.weight (4,)\n"
            "transformer.h.0.ln_1.bias (4,)\n"
            "transformer.h.0.attn.c_attn.weight (4, 12)\n"
            "transformer.h.0.attn.c_attn.bias (12,)\n"
            "transformer.h.0.attn.c_proj.weight (4, 4)\n"
            "transformer.h.0.attn.c_proj.bias (4,)\n"
            "transformer.h.0.ln_2.weight (4,)\n"
            "transformer.h.0.ln_2.bias (4,)\n"
            "transformer.h.0.mlp.c_fc.weight (4, 16)\n"
            "transformer.h.0.mlp.c_fc.bias (16,)\n"
            "transformer.h.0.mlp.c_proj.weight (16, 4)\n"
            "transformer.h.0.mlp.c_proj.bias (4,)\n"
            "transformer.ln_f.weight (4,)\n"
            "transformer.ln_f.bias (4,)\n");
}

TEST(GptLayout, WithoutLayersAndTablesOfItsOwn) {
  const GptLayout layout({.vocabulary = 11,
                          .context = 5,
                          .layers = 0,
                          .heads = 1,
                          .dim = 4,
                          .tied = false,
                          .position = PositionScheme::kRotary});
  EXPECT_EQ(text_of(layout),
            "transformer.wte.weight (11, 4)\n"
            "transformer.ln_f.weight (4,)\n"
            "transformer.ln_f.bias (4,)\n"
            "lm_head.weight (11, 4)\n");
  EXPECT_EQ(layout.position_table(), std::nullopt);
  EXPECT_EQ(layout.head(), 3U);
  EXPECT_EQ(layout.parameters(), 2 * 11 * 4 + 8U);
}

TEST(GptLayout, CountsTheParametersOfGpt2) {
  EXPECT_EQ(GptLayout(gpt_preset("gpt2")).parameters(), 124'439'808U);
  EXPECT_EQ(GptLayout(gpt_preset("gpt2-xl")).parameters(), 1'557'611'200U);
}

TEST(GptLayout, NumbersItsTensors) {
  const GptLayout layout({.vocabulary = 11, .context = 5, .layers = 3, .heads = 2, .dim = 4, .tied = false});
  const auto name = [&](std::size_t tensor) { return layout.tensors()[tensor].name; };
  EXPECT_EQ(name(layout.token_table()), "transformer.wte.weight");
  EXPECT_EQ(name(layout.position_table().value()), "transformer.wpe.weight");
  EXPECT_EQ(name(layout.block(2, BlockTensor::kOutBias)), "transformer.h.2.mlp.c_proj.bias");
  EXPECT_EQ(name(layout.block(1, BlockTensor::kAttentionWeight)), "transformer.h.1.attn.c_attn.weight");
  EXPECT_EQ(name(layout.last_norm_weight()), "transformer.ln_f.weight");
  EXPECT_EQ(name(layout.head()), "lm_head.weight");
  for (std::size_t i = 0; i < layout.tensors().size(); ++i) {
    EXPECT_EQ(layout.find(name(i)), i);
    EXPECT_EQ(layout.tensors()[i].offset * sizeof(float) % 64, 0U);
  }
  EXPECT_EQ(layout.find("h.1.ln_2.bias"), layout.block(1, BlockTensor::kNorm2Bias));
  EXPECT_EQ(layout.find("h.3.ln_2.bias"), std::nullopt);
}

TEST(GptParameters, AreReachedByNameAndNumber) {
  GptParameters parameters({.vocabulary = 11, .context = 5, .layers = 1, .heads = 2, .dim = 4});
  parameters.at("wpe.weight")[7] = 3;
  EXPECT_EQ(parameters.matrix(1)(1, 3), 3);
  EXPECT_EQ(parameters[1].size(), 20U);
  EXPECT_EQ(parameters.named().at(1).name, "transformer.wpe.weight");
  EXPECT_EQ(parameters.named().at(1).numbers[7], 3);
  try {
    parameters.at("wqe.weight");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "[GptParameters] expected the name of a tensor, received \"wqe.weight\"");
  }
}

double standard_deviation(std::span<const float> numbers) {
  double squares = 0;
  for (const float x : numbers) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

TEST(RandomGptParameters, StartAsGpt2Does) {
  const GptConfig config = {.vocabulary = 301, .context = 64, .layers = 2, .heads = 4, .dim = 64};
  const GptParameters parameters = random_gpt_parameters(config, 7);
  EXPECT_NEAR(standard_deviation(parameters.at("wte.weight")), 0.02, 0.0005);
  EXPECT_NEAR(standard_deviation(parameters.at("wpe.weight")), 0.01, 0.0005);
  EXPECT_NEAR(standard_deviation(parameters.at("h.0.attn.c_attn.weight")), 0.02, 0.0005);
  EXPECT_NEAR(standard_deviation(parameters.at("h.1.attn.c_proj.weight")), 0.01, 0.0005);
  EXPECT_NEAR(standard_deviation(parameters.at("h.1.mlp.c_proj.weight")), 0.01, 0.0005);
  for (const GptTensor& tensor : parameters.layout().tensors()) {
    if (tensor.is_matrix) continue;
    const float expected = tensor.name.ends_with(".weight") ? 1 : 0;
    EXPECT_TRUE(std::ranges::all_of(parameters.at(tensor.name), [&](float x) { return x == expected; })) << tensor.name;
  }
}

TEST(RandomGptParameters, BeginWithTheTablesOfAnInputEmbedding) {
  const GptConfig config = {.vocabulary = 53, .context = 9, .layers = 1, .heads = 1, .dim = 16};
  const GptParameters parameters = random_gpt_parameters(config, 123);
  Generator generator(123);
  EXPECT_EQ(testing::difference(random_table(53, 16, generator, 0.02).flat(), parameters.at("wte.weight")), "");
  EXPECT_EQ(testing::difference(random_table(9, 16, generator, 0.01).flat(), parameters.at("wpe.weight")), "");
  EXPECT_EQ(testing::difference(parameters.flat(), random_gpt_parameters(config, 123).flat()), "");
  EXPECT_NE(testing::difference(parameters.flat(), random_gpt_parameters(config, 124).flat()), "");
}

}  // namespace
}  // namespace firstlayer
