#include "firstlayer/train/network/gpt_config.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace firstlayer {
namespace {

std::string refusal(const GptConfig& config) {
  try {
    check_gpt_config(config);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(GptConfig, OfGpt2IsTheDefault) {
  const GptConfig config;
  EXPECT_EQ(refusal(config), "");
  EXPECT_EQ(config.head_dim(), 64U);
  const GptConfig preset = gpt_preset("gpt2");
  EXPECT_EQ(preset.layers, config.layers);
  EXPECT_EQ(preset.heads, config.heads);
  EXPECT_EQ(preset.dim, config.dim);
}

TEST(GptConfig, PresetsCanBeMade) {
  for (const char* name : {"nano", "micro", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"}) {
    EXPECT_EQ(refusal(gpt_preset(name)), "") << name;
  }
  EXPECT_EQ(gpt_preset("nano").dim, 48U);
  EXPECT_EQ(gpt_preset("micro").layers, 4U);
}

TEST(GptConfig, RefusesAnUnknownPresetAndListsThem) {
  try {
    gpt_preset("mini");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "[gpt_preset] expected one of nano, micro, gpt2, gpt2-medium, gpt2-large, gpt2-xl, received \"mini\"");
  }
}

TEST(GptConfig, NeedsNoLayers) { EXPECT_EQ(refusal({.layers = 0}), ""); }

TEST(GptConfig, RefusesSizesOfZero) {
  EXPECT_EQ(refusal({.vocabulary = 0}), "[GptConfig] expected vocabulary of at least 1, received 0");
  EXPECT_EQ(refusal({.context = 0}), "[GptConfig] expected context of at least 1, received 0");
  EXPECT_EQ(refusal({.heads = 0}), "[GptConfig] expected heads of at least 1, received 0");
  EXPECT_EQ(refusal({.dim = 0}), "[GptConfig] expected dim of at least 1, received 0");
}

TEST(GptConfig, RefusesOddHeads) {
  EXPECT_EQ(refusal({.heads = 7, .dim = 768}),
            "[GptConfig] expected dim = 768 to be a multiple of heads, received heads = 7");
  EXPECT_EQ(refusal({.heads = 4, .dim = 12, .position = PositionScheme::kRotary}),
            "[GptConfig] expected an even dim / heads, whose numbers rotate in pairs, received dim = 12 and heads = 4");
  EXPECT_EQ(refusal({.heads = 4, .dim = 12, .position = PositionScheme::kAlibi}), "");
}

TEST(GptConfig, RefusesWhatAttentionDoesNotKnow) {
  EXPECT_EQ(refusal({.position = PositionScheme::kT5}),
            "[GptConfig] expected learned, sinusoidal, sinusoidal-half, rotary or alibi positions, or none, received "
            "t5");
  EXPECT_NE(refusal({.norm_eps = 0}), "");
  EXPECT_NE(refusal({.rotary_base = -1}), "");
}

}  // namespace
}  // namespace firstlayer
