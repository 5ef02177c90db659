#include "firstlayer/encode/split.h"

#include <array>
#include <cstdint>

#include "firstlayer/base/utf8.h"
#include "firstlayer/encode/unicode_class.h"

namespace firstlayer {
namespace {

/// Stands for "look at more than one byte" in the table below.
constexpr auto kMultibyte = static_cast<CharClass>(4);

constexpr std::array<CharClass, 256> kByteClass = [] {
  std::array<CharClass, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
    bool number = byte >= '0' && byte <= '9';
    bool space = byte == ' ' || (byte >= 9 && byte <= 13);
    table[byte] = byte >= 0x80 ? kMultibyte
                  : letter     ? CharClass::kLetter
                  : number     ? CharClass::kNumber
                  : space      ? CharClass::kSpace
                               : CharClass::kOther;
  }
  return table;
}();

CharClass byte_class(const char* at) { return kByteClass[static_cast<unsigned char>(*at)]; }

struct Classified {
  CharClass char_class;
  const char* next;
};

Classified classify_multibyte(const char* at, const char* end) {
  Utf8Char c = decode_utf8({at, static_cast<std::size_t>(end - at)}, 0);
  return {char_class(c.code_point), at + c.length};
}

Classified classify(const char* at, const char* end) {
  CharClass one_byte = byte_class(at);
  if (one_byte != kMultibyte) return {one_byte, at + 1};
  return classify_multibyte(at, end);
}

const char* skip_class(const char* at, const char* end, CharClass wanted) {
  for (;;) {
    while (at < end && byte_class(at) == wanted) ++at;
    if (at == end || byte_class(at) != kMultibyte) return at;
    Classified c = classify_multibyte(at, end);
    if (c.char_class != wanted) return at;
    at = c.next;
  }
}

/// The end of the contraction whose apostrophe is at `at`, or nullptr.
const char* contraction_end(const char* at, const char* end) {
  if (end - at < 2) return nullptr;
  switch (at[1]) {
    case 's':
    case 'd':
    case 'm':
    case 't':
      return at + 2;
    case 'l':
      return end - at > 2 && at[2] == 'l' ? at + 3 : nullptr;
    case 'v':
    case 'r':
      return end - at > 2 && at[2] == 'e' ? at + 3 : nullptr;
    default:
      return nullptr;
  }
}

/// A run of white space that the text goes on after leaves its last character to the next piece, unless it is the only
/// one.
const char* space_run_end(const char* begin, const char* end) {
  const char* last = begin;
  for (const char* at = begin; at < end;) {
    Classified c = classify(at, end);
    if (c.char_class != CharClass::kSpace) return last == begin ? at : last;
    last = at;
    at = c.next;
  }
  return end;
}

}  // namespace

const char* next_piece_end(const char* begin, const char* end) {
  const char* body = begin;
  if (*begin == ' ') {
    ++body;
    if (body == end) return end;
  } else if (*begin == '\'') {
    if (const char* contraction = contraction_end(begin, end)) return contraction;
  }
  Classified first = classify(body, end);
  if (first.char_class == CharClass::kSpace) return space_run_end(begin, end);
  return skip_class(first.next, end, first.char_class);
}

std::optional<std::size_t> find_safe_cut(std::string_view text, std::size_t from) {
  auto is_ascii_space = [&](std::size_t i) { return byte_class(text.data() + i) == CharClass::kSpace; };
  for (std::size_t p = text.size(); p-- > from + 1;) {
    if (!is_ascii_space(p)) continue;
    std::size_t start = p - 1;  // of the character before
    while (start > 0 && p - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    Utf8Char before = decode_utf8(text.substr(0, p), start);
    if (start + before.length != p) before = {0xFFFD, 1, false};  // stray continuation bytes
    if (char_class(before.code_point) != CharClass::kSpace) return p;
  }
  return std::nullopt;
}

}  // namespace firstlayer
