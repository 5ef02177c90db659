#include "firstlayer/encode/split.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

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

constexpr std::uint64_t kEachByte = 0x0101010101010101;

/// How many of the 8 bytes from `at` on are ASCII letters before the first that is none.
unsigned leading_letters(const char* at) {
  std::uint64_t bytes;
  std::memcpy(&bytes, at, sizeof(bytes));
  // In the low 7 bits of each byte, a sum reaches bit 7 from 'a' on, or past 'z'; upper case is folded in.
  std::uint64_t folded = (bytes | 0x20 * kEachByte) & 0x7F * kEachByte;
  std::uint64_t from_a = folded + (0x80 - 'a') * kEachByte;
  std::uint64_t past_z = folded + (0x80 - 'z' - 1) * kEachByte;
  std::uint64_t letters = from_a & ~past_z & ~bytes & 0x80 * kEachByte;
  return static_cast<unsigned>(std::countr_zero(letters ^ 0x80 * kEachByte)) / 8;
}

/// Past the ASCII letters from `at` on, eight at a time while there are eight.
const char* skip_ascii_letters(const char* at, const char* end) {
  while (end - at >= 8) {
    unsigned letters = leading_letters(at);
    at += letters;
    if (letters < 8) return at;
  }
  while (at < end && byte_class(at) == CharClass::kLetter) ++at;
  return at;
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
  // What most pieces of most texts are: ASCII letters, then something else.
  const char* word_end = skip_ascii_letters(body, end);
  if (word_end > body) return skip_class(word_end, end, CharClass::kLetter);
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
