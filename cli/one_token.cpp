#include "cli/one_token.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "cli/failure.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer::cli {

std::optional<TokenId> find_token(const Tokenizer& tokenizer, std::string_view bytes) {
  for (TokenId id = 0; id < tokenizer.vocabulary_size(); ++id) {
    if (tokenizer.token_bytes(id) == bytes) return id;
  }
  return std::nullopt;
}

TokenId need_token(const Tokenizer& tokenizer, std::string_view bytes) {
  if (const std::optional<TokenId> id = find_token(tokenizer, bytes)) return *id;
  refuse_token(tokenizer, bytes);
}

void refuse_token(const Tokenizer& tokenizer, std::string_view text) {
  std::string tokens;
  const std::vector<TokenId> ids = tokenizer.encode_ordinary(text);
  for (const TokenId id : std::span(ids).first(std::min<std::size_t>(ids.size(), 8))) {
    tokens += fmt::format("{}{} {}", tokens.empty() ? "" : ", ", id, in_quotes(tokenizer.token_bytes(id)));
  }
  std::string other(text);
  other.starts_with(' ') ? other.erase(0, 1) : other.insert(0, 1, ' ');
  throw Failure(kBadData,
                fmt::format("{} is not one token but {}: {}{}", in_quotes(text), ids.size(), tokens,
                            ids.size() > 8 ? ", ..." : ""),
                find_token(tokenizer, other) ? in_quotes(other) + " is one" : "");
}

}  // namespace firstlayer::cli
