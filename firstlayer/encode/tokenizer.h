#pragma once
// Text -> ids and back: byte-level byte-pair encoding with a published vocabulary, id for id as tiktoken encodes.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/special_tokens.h"

namespace firstlayer {

/// Cheap to copy; copies share one cache. Every member is safe to call from several threads at once.
/// Any bytes are legal text and decode(encode_ordinary(text)) == text.
class Tokenizer {
 public:
  /// "gpt2". The vocabulary is compiled in: this reads no file. Throws std::invalid_argument listing the known names.
  static Tokenizer get_encoding(std::string_view name);

  /// The names get_encoding() knows.
  static std::vector<std::string> encoding_names();

  std::string_view name() const;

  /// V: ids are 0 .. vocabulary_size() - 1, special tokens included (n_vocab in tiktoken).
  std::size_t vocabulary_size() const;

  /// The id of <|endoftext|>.
  TokenId end_of_text() const;

  std::span<const SpecialToken> special_tokens() const;

  /// Text to ids, with special tokens by `rules`. Throws SpecialTokenError, and std::invalid_argument for an allowed
  /// name that is no special token of this vocabulary.
  ///   encode("Hello, do you like tea?") == {15496, 11, 466, 345, 588, 8887, 30}
  std::vector<TokenId> encode(std::string_view text, const SpecialRules& rules = {}) const;

  /// Text to ids; the text of a special token is ordinary text.
  std::vector<TokenId> encode_ordinary(std::string_view text) const;

  /// Appends the ids of `text` to `ids`, as encode() gives them.
  void encode_to(std::string_view text, const SpecialRules& rules, std::vector<TokenId>& ids) const;

  /// Ids to the bytes they stand for. Throws std::out_of_range naming the id, its place and V.
  std::string decode(std::span<const TokenId> ids) const;

  /// The bytes of one token; they live as long as any Tokenizer of this encoding. Throws std::out_of_range.
  std::string_view token_bytes(TokenId id) const;

 private:
  struct State;
  explicit Tokenizer(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace firstlayer
