#include "firstlayer/train/checkpoint/gpt2_vocabulary_files.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "firstlayer/base/atomic_file.h"
#include "firstlayer/encode/encodings.h"
#include "firstlayer/encode/vocabulary.h"
#include "firstlayer/formats/file_limits.h"
#include "firstlayer/train/checkpoint/json_fields.h"

namespace firstlayer {
namespace {

const Encoding& gpt2() { return *std::ranges::find(encodings(), "gpt2", &Encoding::name); }

/// OpenAI's letter for each byte, in UTF-8: printable Latin-1 stands for itself, the others for U+0100, U+0101, …
std::array<std::string, 256> byte_letters() {
  std::array<std::string, 256> letters;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool itself =
        (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
    const unsigned c = itself ? byte : next++;
    if (c >= 0x80) letters[byte] += static_cast<char>(0xC0 | c >> 6);
    letters[byte] += static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3F));
  }
  return letters;
}

/// A token's bytes in those letters.
std::string in_letters(std::string_view bytes) {
  static const std::array<std::string, 256> letters = byte_letters();
  std::string text;
  for (const char byte : bytes) text += letters[static_cast<unsigned char>(byte)];
  return text;
}

/// Every token with its id, special ones last.
std::vector<std::pair<std::string, TokenId>> tokens_in_letters() {
  const Vocabulary vocabulary(gpt2().image);
  std::vector<std::pair<std::string, TokenId>> tokens;
  for (TokenId id = 0; id < vocabulary.size(); ++id) tokens.emplace_back(in_letters(vocabulary.token_bytes(id)), id);
  for (const SpecialToken& special : gpt2().special_tokens) tokens.emplace_back(special.text, special.id);
  return tokens;
}

}  // namespace

std::string gpt2_vocab_json() {
  std::string json;
  for (const auto& [text, id] : tokens_in_letters()) {
    json += json.empty() ? "{" : ", ";
    const nlohmann::json word = text;
    json += word.dump(-1, ' ', /*ensure_ascii=*/true) + ": " + std::to_string(id);
  }
  return json + "}";
}

std::string gpt2_merges_txt() {
  const Vocabulary vocabulary(gpt2().image);
  std::unordered_map<std::string_view, TokenId> ids;
  for (TokenId id = 0; id < vocabulary.size(); ++id) ids.emplace(vocabulary.token_bytes(id), id);
  std::string lines = "#version: 0.2\n";
  for (TokenId id = 256; id < vocabulary.size(); ++id) {
    const std::string_view bytes = vocabulary.token_bytes(id);
    // A token is merged from one pair alone, so the first place where two tokens meet that give it is the pair.
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      const auto left = ids.find(bytes.substr(0, cut));
      const auto right = ids.find(bytes.substr(cut));
      if (left == ids.end() || right == ids.end() || vocabulary.merged(left->second, right->second) != id) continue;
      lines.append(in_letters(left->first)).append(" ").append(in_letters(right->first)).append("\n");
      break;
    }
  }
  return lines;
}

void write_gpt2_vocabulary(const std::filesystem::path& folder) {
  write_whole(folder / "vocab.json", gpt2_vocab_json());
  write_whole(folder / "merges.txt", gpt2_merges_txt());
}

std::string gpt2_vocabulary_difference(std::string_view vocab_json, const std::filesystem::path& path) {
  const JsonFields stored(vocab_json, path);
  for (const auto& [text, id] : tokens_in_letters()) {
    const std::optional<std::uint64_t> there = stored.whole(text);
    if (there == id) continue;
    if (!there) return "no " + quoted_text(text) + ", here " + std::to_string(id);
    return "id " + std::to_string(*there) + " for " + quoted_text(text) + ", here " + std::to_string(id);
  }
  return "";
}

}  // namespace firstlayer
