#include "firstlayer/encode/reference.h"

#include "firstlayer/base/utf8.h"
#include "firstlayer/encode/unicode_class.h"

namespace firstlayer {
namespace {

/// The class of the character at `position` and where the next one begins.
struct Classified {
  CharClass char_class;
  std::size_t next;
};

Classified classify(std::string_view text, std::size_t position) {
  Utf8Char c = decode_utf8(text, position);
  return {char_class(c.code_point), position + c.length};
}

/// Past the characters of class `wanted` from `position` on.
std::size_t skip_class(std::string_view text, std::size_t position, CharClass wanted) {
  while (position < text.size()) {
    Classified c = classify(text, position);
    if (c.char_class != wanted) break;
    position = c.next;
  }
  return position;
}

/// '(?:[sdmt]|ll|ve|re): the length of the contraction that `text` begins with, or 0.
std::size_t contraction_length(std::string_view text) {
  for (std::string_view form : {"'s", "'d", "'m", "'t", "'ll", "'ve", "'re"}) {
    if (text.substr(0, form.size()) == form) return form.size();
  }
  return 0;
}

/// \s+$|\s+(?!\S)|\s: a run that ends the text whole, else all but its last character, but at least one.
std::size_t space_run_end(std::string_view text, std::size_t begin) {
  std::size_t end = skip_class(text, begin, CharClass::kSpace);
  if (end == text.size()) return end;
  std::size_t last = begin;
  for (std::size_t next = classify(text, begin).next; next < end; next = classify(text, next).next) last = next;
  return last == begin ? end : last;
}

std::size_t piece_end(std::string_view text, std::size_t begin) {
  if (std::size_t length = contraction_length(text.substr(begin)); length > 0) return begin + length;
  std::size_t body = text[begin] == ' ' ? begin + 1 : begin;
  if (body < text.size()) {
    CharClass body_class = classify(text, body).char_class;
    if (body_class != CharClass::kSpace) return skip_class(text, body, body_class);
  }
  return space_run_end(text, begin);
}

}  // namespace

std::vector<std::string_view> split_reference(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = piece_end(text, begin);
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

void merge_reference(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& ids) {
  std::vector<TokenId> parts;
  for (char byte : piece) parts.push_back(vocabulary.byte_token(static_cast<unsigned char>(byte)));
  for (;;) {
    TokenId lowest = kNoToken;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      TokenId merged = vocabulary.merged(parts[i], parts[i + 1]);
      if (merged < lowest) {
        lowest = merged;
        at = i;
      }
    }
    if (lowest == kNoToken) break;
    parts[at] = lowest;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  ids.insert(ids.end(), parts.begin(), parts.end());
}

std::vector<TokenId> encode_reference(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<TokenId> ids;
  for (std::string_view piece : split_reference(text)) merge_reference(vocabulary, piece, ids);
  return ids;
}

}  // namespace firstlayer
