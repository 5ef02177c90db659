#include "firstlayer/train/checkpoint/gpt_config_json.h"

#include <gtest/gtest.h>

#include "firstlayer/base/errors.h"
#include "firstlayer/train/checkpoint/json_fields.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

constexpr std::string_view kSizes = R"("vocab_size": 61, "n_positions": 10, "n_embd": 16, "n_layer": 2, "n_head": 4)";

std::string with(std::string_view field) { return "{" + std::string(kSizes) + ", " + std::string(field) + "}"; }

TEST(GptConfigJson, GoesThereAndBack) {
  using enum PositionScheme;
  for (const GptConfig& config :
       {GptConfig{}, GptConfig{.vocabulary = 7, .context = 3, .layers = 0, .heads = 1, .dim = 5, .tied = false},
        GptConfig{.position = kRotary, .norm_eps = 1e-6, .rotary_base = 500000}, GptConfig{.position = kAlibi},
        GptConfig{.position = kSinusoidal}, GptConfig{.position = kSinusoidalHalf}, GptConfig{.position = kNone}}) {
    EXPECT_EQ(config_difference(parse_gpt_config(gpt_config_json(config), "x"), config), "");
  }
}

TEST(GptConfigJson, TellsTransformersOnlyWhatIsSo) {
  const JsonFields learned(gpt_config_json({}), "x");
  EXPECT_EQ(learned.text("model_type"), "gpt2");
  EXPECT_EQ(learned.text("activation_function"), "gelu_new");
  EXPECT_EQ(learned.whole("n_positions"), 1024);
  EXPECT_EQ(learned.whole("eos_token_id"), 50256);
  EXPECT_FALSE(learned.has("firstlayer"));
  EXPECT_FALSE(JsonFields(gpt_config_json({.vocabulary = 61}), "x").has("eos_token_id"));
  EXPECT_EQ(JsonFields(gpt_config_json({.position = PositionScheme::kNone}), "x").text("model_type"), "gpt2");
  for (const PositionScheme scheme : {PositionScheme::kRotary, PositionScheme::kAlibi}) {
    const JsonFields own(gpt_config_json({.position = scheme}), "x");
    EXPECT_EQ(own.text("model_type"), kOwnModelType);
    EXPECT_EQ(own.need_object("firstlayer").text("position"), scheme_name(scheme));
  }
}

TEST(GptConfigJson, FillsInGpt2sDefaultsAndReadsNanoGptsNames) {
  const GptConfig config = parse_gpt_config(with("\"layer_norm_epsilon\": 1e-3"), "x");
  EXPECT_EQ(config_difference(config,
                              {.vocabulary = 61, .context = 10, .layers = 2, .heads = 4, .dim = 16, .norm_eps = 1e-3}),
            "");
  EXPECT_EQ(parse_gpt_config(R"({"vocab_size": 5, "block_size": 9, "n_embd": 4, "n_layer": 1, "n_head": 2,
                                 "bias": false, "dropout": 0.1})",
                             "x")
                .context,
            9);
  EXPECT_EQ(parse_gpt_config(with("\"n_inner\": 64, \"activation_function\": \"gelu_pytorch_tanh\""), "x").dim, 16);
}

TEST(GptConfigJson, RefusesByNameWhatIsNotComputed) {
  const auto words = [](std::string_view field) {
    return message_of<FormatError>([&] { parse_gpt_config(with(field), "config.json"); });
  };
  EXPECT_EQ(words("\"activation_function\": \"gelu\""),
            "config.json: \"activation_function\": expected \"gelu_new\", received \"gelu\"; only GPT-2's own network "
            "is computed here");
  for (const char* field : {"\"scale_attn_by_inverse_layer_idx\": true", "\"scale_attn_weights\": false",
                            "\"n_inner\": 65", "\"add_cross_attention\": true", "\"pruned_heads\": {\"0\": [1]}",
                            "\"model_type\": \"llama\"", "\"quantization_config\": {\"bits\": 4}"}) {
    const std::string name = std::string(field).substr(0, std::string_view(field).find(':'));
    EXPECT_NE(words(field).find(name), std::string::npos) << field;
  }
  EXPECT_NE(words("\"firstlayer\": {\"position\": \"t5\"}"), "");
  EXPECT_NE(words("\"firstlayer\": {\"position\": \"spiral\"}").find("firstlayer.position"), std::string::npos);
  EXPECT_NE(words("\"model_type\": \"firstlayer_gpt\"").find("firstlayer"), std::string::npos);
}

TEST(GptConfigJson, RefusesSizesThatAreMissingOrImpossible) {
  const auto words = [](std::string_view json) {
    return message_of<FormatError>([&] { parse_gpt_config(json, "config.json"); });
  };
  EXPECT_NE(words("{}").find("\"vocab_size\""), std::string::npos);
  EXPECT_NE(words(R"({"vocab_size": 5, "n_positions": 9, "n_embd": 5, "n_layer": 1, "n_head": 2})").find("multiple"),
            std::string::npos);
  EXPECT_NE(words(R"({"vocab_size": 5, "n_positions": 0, "n_embd": 4, "n_layer": 1, "n_head": 2})").find("context"),
            std::string::npos);
}

TEST(GptConfigJson, NamesTheFirstDifference) {
  EXPECT_EQ(config_difference({.layers = 6}, {}), "layers = 6, here 12");
  EXPECT_EQ(config_difference({.tied = false}, {}), "tied = false, here true");
  EXPECT_EQ(config_difference({}, {.position = PositionScheme::kNone}), "position = learned, here none");
  EXPECT_EQ(config_difference({.norm_eps = 1e-6}, {}), "norm_eps = 1e-06, here 1e-05");
  EXPECT_EQ(config_difference({.rotary_base = 5}, {}), "");  // not rotary
}

}  // namespace
}  // namespace firstlayer
