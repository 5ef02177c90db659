#pragma once
// The weights that llm.c trains with and exports: gpt2_124M.bin, gpt2_124M_bf16.bin. Internal to the library.
// A header of 256 int32, then the tensors one behind the other, matrices as (outputs, inputs).
// https://github.com/karpathy/llm.c, write_model() in train_gpt2.py

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "firstlayer/formats/safetensors.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

struct LlmcFile {
  GptConfig config;
  std::size_t padded_vocabulary;     ///< rows of the stored token table
  std::vector<StoredTensor> stored;  ///< of all layers together, in file order, inside `file`
};

/// Reads a whole file's bytes: version 3 (float32) or 5 (bfloat16). Throws FormatError for `path`.
LlmcFile parse_llmc(std::span<const std::byte> file, const std::filesystem::path& path);

/// Throws FileError, FormatError.
GptParameters load_llmc(const std::filesystem::path& path);

}  // namespace firstlayer
