#include "firstlayer/train/checkpoint/gpt_config_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "firstlayer/base/errors.h"
#include "firstlayer/train/checkpoint/json_fields.h"

namespace firstlayer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOwnKey = "firstlayer";
constexpr std::size_t kEndOfText = 50256;
constexpr std::string_view kOnlyGpt2 = "only GPT-2's own network is computed here";

bool acts_in_attention(PositionScheme scheme) {
  const PositionRole role = position_role(scheme);
  return role == PositionRole::kRotatesQueriesAndKeys || role == PositionRole::kBiasesScores;
}

std::size_t size_of(const JsonFields& fields, std::string_view name, std::string_view other) {
  if (fields.has(name) || other.empty()) return fields.need_whole(name);
  return fields.has(other) ? fields.need_whole(other) : fields.need_whole(name);
}

/// A field that has only one value that is computed here.
void expect_flag(const JsonFields& fields, std::string_view name, bool expected) {
  if (fields.flag(name).value_or(expected) != expected) fields.refuse(name, expected ? "true" : "false", kOnlyGpt2);
}

void refuse_what_is_not_computed(const JsonFields& fields, std::size_t dim) {
  const std::string type = fields.text("model_type").value_or("gpt2");
  if (type != "gpt2" && type != kOwnModelType) fields.refuse("model_type", "\"gpt2\"", kOnlyGpt2);
  const std::string activation = fields.text("activation_function").value_or("gelu_new");
  if (activation != "gelu_new" && activation != "gelu_pytorch_tanh") {  // two names of one function
    fields.refuse("activation_function", "\"gelu_new\"", kOnlyGpt2);
  }
  expect_flag(fields, "scale_attn_weights", true);
  expect_flag(fields, "scale_attn_by_inverse_layer_idx", false);
  expect_flag(fields, "add_cross_attention", false);
  if (fields.whole("n_inner").value_or(4 * dim) != 4 * dim) {
    fields.refuse("n_inner", "null or 4 n_embd = " + std::to_string(4 * dim), kOnlyGpt2);
  }
  if (const auto pruned = fields.object("pruned_heads"); pruned && !pruned->names().empty()) {
    fields.refuse("pruned_heads", "none", kOnlyGpt2);
  }
  if (fields.has("quantization_config")) {
    fields.refuse("quantization_config", "none", "store the weights as float32, bfloat16 or float16");
  }
}

void read_own_fields(const JsonFields& fields, GptConfig& config) {
  const std::optional<JsonFields> own = fields.object(kOwnKey);
  if (!own) {
    if (fields.text("model_type") == kOwnModelType) fields.refuse(kOwnKey, "an object with the position scheme");
    return;
  }
  try {
    config.position = find_scheme(own->need_text("position"));
  } catch (const std::invalid_argument&) {
    own->refuse("position", "the name of a position scheme");
  }
  config.rotary_base = own->number("rotary_base").value_or(config.rotary_base);
}

template <class T>
std::string differing(std::string_view name, const T& stored, const T& here) {
  return std::string(name).append(" = ").append(stored).append(", here ").append(here);
}

std::string text_of(double number) { return nlohmann::json(number).dump(); }

}  // namespace

std::string gpt_config_json(const GptConfig& config) {
  const bool own_type = acts_in_attention(config.position);
  Json json;
  json["activation_function"] = "gelu_new";
  json["architectures"] = {own_type ? "FirstlayerGpt" : "GPT2LMHeadModel"};
  for (const char* dropout : {"attn_pdrop", "embd_pdrop", "resid_pdrop"}) json[dropout] = 0.0;
  for (const char* token : {"bos_token_id", "eos_token_id"}) {
    json[token] = config.vocabulary > kEndOfText ? Json(kEndOfText) : Json(nullptr);
  }
  json["initializer_range"] = 0.02;
  json["layer_norm_epsilon"] = config.norm_eps;
  json["model_type"] = own_type ? std::string(kOwnModelType) : "gpt2";
  json["n_ctx"] = config.context;
  json["n_embd"] = config.dim;
  json["n_head"] = config.heads;
  json["n_inner"] = nullptr;
  json["n_layer"] = config.layers;
  json["n_positions"] = config.context;
  json["reorder_and_upcast_attn"] = false;
  json["scale_attn_by_inverse_layer_idx"] = false;
  json["scale_attn_weights"] = true;
  json["tie_word_embeddings"] = config.tied;
  json["torch_dtype"] = "float32";
  json["vocab_size"] = config.vocabulary;
  if (config.position != PositionScheme::kLearned) {
    json[std::string(kOwnKey)]["position"] = scheme_name(config.position);
    if (config.position == PositionScheme::kRotary) json[std::string(kOwnKey)]["rotary_base"] = config.rotary_base;
  }
  return json.dump(2) + "\n";
}

GptConfig parse_gpt_config(std::string_view json, const std::filesystem::path& path) {
  const JsonFields fields(json, path);
  GptConfig config;
  config.vocabulary = size_of(fields, "vocab_size", "");
  config.context = size_of(fields, "n_positions", fields.has("n_ctx") ? "n_ctx" : "block_size");
  config.layers = size_of(fields, "n_layer", "");
  config.heads = size_of(fields, "n_head", "");
  config.dim = size_of(fields, "n_embd", "");
  refuse_what_is_not_computed(fields, config.dim);
  config.tied = fields.flag("tie_word_embeddings").value_or(true);
  config.norm_eps = fields.number("layer_norm_epsilon").value_or(config.norm_eps);
  read_own_fields(fields, config);
  try {
    check_gpt_config(config);
  } catch (const std::invalid_argument& error) {
    throw FormatError(path, std::string("expected the sizes of a network, received others: ") + error.what());
  }
  return config;
}

std::string config_difference(const GptConfig& stored, const GptConfig& here) {
  const auto sizes = {std::tuple{"vocabulary", stored.vocabulary, here.vocabulary},
                      {"context", stored.context, here.context},
                      {"layers", stored.layers, here.layers},
                      {"heads", stored.heads, here.heads},
                      {"dim", stored.dim, here.dim}};
  for (const auto& [name, there, at_hand] : sizes) {
    if (there != at_hand) return differing(name, std::to_string(there), std::to_string(at_hand));
  }
  if (stored.tied != here.tied) {
    return differing<std::string_view>("tied", stored.tied ? "true" : "false", here.tied ? "true" : "false");
  }
  if (stored.position != here.position) {
    return differing("position", scheme_name(stored.position), scheme_name(here.position));
  }
  if (stored.norm_eps != here.norm_eps) return differing("norm_eps", text_of(stored.norm_eps), text_of(here.norm_eps));
  if (stored.position == PositionScheme::kRotary && stored.rotary_base != here.rotary_base) {
    return differing("rotary_base", text_of(stored.rotary_base), text_of(here.rotary_base));
  }
  return "";
}

}  // namespace firstlayer
