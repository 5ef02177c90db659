#pragma once
// GptConfig as the config.json of Hugging Face's GPT-2, and back. Internal to the library.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "firstlayer/train/network/gpt_config.h"

namespace firstlayer {

/// The model_type of networks that transformers' GPT-2 cannot compute, so that it refuses them: rotary and ALiBi.
inline constexpr std::string_view kOwnModelType = "firstlayer_gpt";

/// What transformers' GPT2Config reads, and under "firstlayer" what it has no words for: a position scheme other than
/// learned. Schemes that add fixed vectors, or none, are GPT-2 to transformers: fixed_position_table() is its table.
std::string gpt_config_json(const GptConfig& config);

/// Reads it, nanoGPT's names for the sizes too. Throws FormatError naming the field for whatever GPT-2's network here
/// does not compute: another activation, another scale of scores, another width of the hidden units, …
GptConfig parse_gpt_config(std::string_view json, const std::filesystem::path& path);

/// Empty if both configurations have the same tensors and compute the same; else the first field that differs: "layers
/// = 12, here 6".
std::string config_difference(const GptConfig& stored, const GptConfig& here);

}  // namespace firstlayer
