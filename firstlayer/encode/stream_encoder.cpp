#include "firstlayer/encode/stream_encoder.h"

#include <utility>

#include "firstlayer/encode/split.h"

namespace firstlayer {

StreamEncoder::StreamEncoder(Tokenizer tokenizer, SpecialRules rules)
    : tokenizer_(std::move(tokenizer)), rules_(std::move(rules)) {}

void StreamEncoder::append(std::string_view text, std::vector<TokenId>& ids) {
  held_ += text;
  if (std::optional<std::size_t> cut = find_safe_cut(held_, searched_)) {
    encode_front(*cut, ids);
    searched_ = 0;
  } else if (!held_.empty()) {
    searched_ = held_.size() - 1;  // whether the last place is safe is known once the next byte is there
  }
}

void StreamEncoder::finish(std::vector<TokenId>& ids) {
  encode_front(held_.size(), ids);
  searched_ = 0;
  encoded_bytes_ = 0;
}

void StreamEncoder::encode_front(std::size_t length, std::vector<TokenId>& ids) {
  try {
    tokenizer_.encode_to(std::string_view(held_).substr(0, length), rules_, ids);
  } catch (const SpecialTokenError& error) {
    throw SpecialTokenError(error.token(), encoded_bytes_ + error.position());
  }
  held_.erase(0, length);
  encoded_bytes_ += length;
}

}  // namespace firstlayer
