#pragma once
// A token that is asked for by its text.

#include <optional>
#include <string_view>

#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/tokenizer.h"

namespace firstlayer::cli {

/// The id of exactly these bytes; nothing if no token has them.
std::optional<TokenId> find_token(const Tokenizer& tokenizer, std::string_view bytes);

/// The same for a token that must be there. Throws as refuse_token().
TokenId need_token(const Tokenizer& tokenizer, std::string_view bytes);

/// Throws Failure that says which tokens the text is made of, and whether a space before it makes it one.
[[noreturn]] void refuse_token(const Tokenizer& tokenizer, std::string_view text);

}  // namespace firstlayer::cli
