#pragma once
// The weights of a GPT-2 on disk: read from the forms in which they are found, written in Hugging Face's.

#include <cstddef>
#include <filesystem>
#include <optional>

#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

struct LoadGptOptions {
  /// For weights without a config.json beside them, which do not tell how many heads share their width.
  std::optional<std::size_t> heads = {};
};

/// Reads the weights at `path`:
/// - a folder of Hugging Face's GPT-2, its .safetensors file or its index of several, with config.json beside it. Names
///   with "transformer." or without; float32, bfloat16 or float16; the masks attn.bias are passed over.
/// - .safetensors in nanoGPT's shape, matrices as (outputs, inputs), biases perhaps absent, which are then 0. Without
///   config.json the sizes are those of the tensors, and options.heads must be given.
/// - llm.c's .bin of version 3 or 5, without the rows that pad its vocabulary.
/// A head that is tied and stored as well must equal the token table. Throws FileError; FormatError naming the field of
/// config.json that this network does not compute, or the tensor that is missing, too many or of another shape.
GptParameters load_gpt(const std::filesystem::path& path, const LoadGptOptions& options = {});

/// Writes a folder that transformers' GPT2LMHeadModel.from_pretrained() and load_gpt() read: config.json,
/// model.safetensors in float32, and with 50,257 or more tokens GPT-2's vocab.json and merges.txt for GPT2Tokenizer. A
/// new folder appears whole or not at all; in one that is there each file does, and others stay. Rotary and ALiBi
/// networks have a model_type of their own, which transformers refuses. Throws FileError.
void save_gpt(const std::filesystem::path& folder, const GptParameters& parameters);

}  // namespace firstlayer
