#include "firstlayer/encode/special_tokens.h"

#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer {

SpecialTokenError::SpecialTokenError(std::string_view token, std::size_t position)
    : std::invalid_argument(mismatch_message("encode", "text without special tokens that are not allowed",
                                             in_quotes(token) + " at byte " + std::to_string(position)) +
                            "; allow it by name to get its id, or have special tokens encoded as ordinary text"),
      token_(token),
      position_(position) {}

std::optional<SpecialMatch> find_special(std::string_view text, std::size_t from,
                                         std::span<const SpecialToken> tokens) {
  std::optional<SpecialMatch> first;
  for (const SpecialToken& token : tokens) {
    // A later token matters only if it begins no later than the first one found.
    std::string_view searched = first ? text.substr(0, first->position + token.text.size()) : text;
    std::size_t position = searched.find(token.text, from);
    if (position == std::string_view::npos) continue;
    bool earlier = !first || position < first->position;
    if (earlier || (position == first->position && token.text.size() > first->token.text.size())) {
      first = SpecialMatch{token, position};
    }
  }
  return first;
}

}  // namespace firstlayer
