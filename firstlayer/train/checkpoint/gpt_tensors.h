#pragma once
// GptParameters as the tensors of a safetensors file. Internal to the library.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

/// Writes every tensor under its name, and the table of positions that are fixed, which transformers adds as if it were
/// learned. The result is content_hash() of all numbers in file order. Throws FileError.
std::uint64_t write_gpt_tensors(const std::filesystem::path& path, const GptParameters& parameters,
                                const std::map<std::string, std::string>& metadata);

/// The table (context, d) that a scheme adds, zeros for none; empty for one that adds another or acts in attention.
Tensor<float, 2> fixed_position_table(const GptConfig& config);

}  // namespace firstlayer
