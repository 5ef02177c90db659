#pragma once
// The compiled-in GPT-2 vocabulary as the two files that OpenAI published, which GPT2Tokenizer reads. Internal to the
// library.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace firstlayer {

/// vocab.json: OpenAI's encoder.json, byte for byte.
std::string gpt2_vocab_json();

/// merges.txt: OpenAI's vocab.bpe, byte for byte.
std::string gpt2_merges_txt();

/// Writes both into the folder. Throws FileError.
void write_gpt2_vocabulary(const std::filesystem::path& folder);

/// Empty if the text of a vocab.json gives every token GPT-2's id, whatever it adds behind them; else the first
/// difference, as "3 tokens" or "id 5 for \"\\u0120the\", here 262". Throws FormatError if it is no vocab.json.
std::string gpt2_vocabulary_difference(std::string_view vocab_json, const std::filesystem::path& path);

}  // namespace firstlayer
