#pragma once
// Text that stands for one token by decree, such as <|endoftext|>: found before the rest is split.

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer {

struct SpecialToken {
  std::string_view text;
  TokenId id;
};

/// What encode() does where the text of a special token occurs, in tiktoken's terms. By default it refuses all.
struct SpecialRules {
  bool allow_all = false;              ///< allowed_special="all"
  std::vector<std::string> allowed{};  ///< allowed_special={…}: these become their ids
  bool others_are_text = false;        ///< disallowed_special=(): the rest is encoded as ordinary text
};

/// The text holds a special token that the rules do not allow. what() says which, where and how to allow it.
class SpecialTokenError : public std::invalid_argument {
 public:
  SpecialTokenError(std::string_view token, std::size_t position);

  const std::string& token() const noexcept { return token_; }
  std::size_t position() const noexcept { return position_; }  ///< first byte in the text

 private:
  std::string token_;
  std::size_t position_;
};

struct SpecialMatch {
  SpecialToken token;
  std::size_t position;
};

/// The first occurrence of any of `tokens` at or after `from`; at one place the longest wins.
std::optional<SpecialMatch> find_special(std::string_view text, std::size_t from, std::span<const SpecialToken> tokens);

}  // namespace firstlayer
