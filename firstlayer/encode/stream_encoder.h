#pragma once
// Text that arrives in parts -> the ids of the whole, without holding the whole.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/special_tokens.h"
#include "firstlayer/encode/tokenizer.h"

namespace firstlayer {

/// append() any number of times, then finish(): the ids appended are those of encode() on all the text at once. What
/// is held back is the text since the last place where a cut cannot change an id (see find_safe_cut in split.h).
class StreamEncoder {
 public:
  explicit StreamEncoder(Tokenizer tokenizer, SpecialRules rules = {});

  /// Appends to `ids` what is certain. Throws SpecialTokenError with the position in the whole text.
  void append(std::string_view text, std::vector<TokenId>& ids);

  /// Appends the rest.
  void finish(std::vector<TokenId>& ids);

 private:
  void encode_front(std::size_t length, std::vector<TokenId>& ids);

  Tokenizer tokenizer_;
  SpecialRules rules_;
  std::string held_;               ///< text not encoded yet
  std::size_t encoded_bytes_ = 0;  ///< text already encoded, for positions in errors
  std::size_t searched_ = 0;       ///< bytes of held_ that are known to hold no safe cut
};

}  // namespace firstlayer
