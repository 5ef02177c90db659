#pragma once
// A network whose token table starts from another table.

#include <filesystem>

#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

/// Copies the table at `path` over the token table, row i to token i: wte.weight of a .safetensors file, under any name
/// if it is the file's only tensor; a .npy; any other file is read as word vectors (word_vectors.h), whose words are
/// not looked at. It must be (V, d) as the network's, of float32, bfloat16 or float16; an untied head stays. Throws
/// FileError; FormatError naming both shapes; nothing has changed then.
void load_token_table(const std::filesystem::path& path, GptParameters& parameters);

}  // namespace firstlayer
