// decode_utf8() on any bytes says what the definition of UTF-8 says; printable() is fit to print.

#include <string>
#include <string_view>

#include "firstlayer/base/utf8.h"
#include "fuzz/fuzz.h"

namespace firstlayer {
namespace {

using fuzzing::require;

/// The one encoding of a code point (The Unicode Standard, table 3-6); "" for what has none.
std::string encode(char32_t c) {
  auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  if (c >= 0xD800 && c < 0xE000) return "";
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
  if (c > 0x10FFFF) return "";
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
}

/// The bits of a sequence of `length` bytes, taken as if it were well formed.
char32_t payload(std::string_view sequence) {
  constexpr unsigned char kFirst[] = {0x7F, 0x1F, 0x0F, 0x07};
  char32_t bits = static_cast<unsigned char>(sequence[0]) & kFirst[sequence.size() - 1];
  for (char next : sequence.substr(1)) bits = bits << 6 | (static_cast<unsigned char>(next) & 0x3F);
  return bits;
}

/// The bytes of the well-formed character at the front of `text`, 0 if there is none.
std::size_t well_formed(std::string_view text) {
  for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    std::string_view sequence = text.substr(0, length);
    if (encode(payload(sequence)) == sequence) return length;
  }
  return 0;
}

void check(std::string_view text) {
  bool all_valid = true;
  for (std::size_t i = 0; i < text.size();) {
    Utf8Char c = decode_utf8(text, i);
    std::size_t length = well_formed(text.substr(i));
    require(c.valid == (length > 0), "valid is well formed");
    require(c.length == (length > 0 ? length : 1), "a character's length");
    require(c.code_point == (length > 0 ? payload(text.substr(i, length)) : 0xFFFD), "a character's code point");
    all_valid = all_valid && c.valid;
    i += c.length;
  }
  require(is_valid_utf8(text) == all_valid, "a valid text is valid characters");
  std::string shown = printable(text);
  require(is_valid_utf8(shown), "printable text is UTF-8");
  for (char byte : shown) require(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7F, "and has no controls");
}

}  // namespace
}  // namespace firstlayer

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firstlayer::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
