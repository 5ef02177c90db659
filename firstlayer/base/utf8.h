#pragma once
// UTF-8, read without trust: any bytes are legal input.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace firstlayer {

/// One character of a byte string.
struct Utf8Char {
  char32_t code_point;  ///< U+FFFD for an invalid byte
  unsigned length;      ///< bytes it takes; 1 for an invalid byte
  bool valid;
};

/// The character at text[position]; position < text.size(). Overlong forms, surrogates, values above U+10FFFF and cut
/// sequences are invalid; each invalid byte is a character of its own.
Utf8Char decode_utf8(std::string_view text, std::size_t position);

bool is_valid_utf8(std::string_view text);

/// `text` as valid UTF-8 on one line for people: quotes and control characters escaped as in C, invalid bytes as \xHH.
///   printable("a\n\xff") == "a\\n\\xff"
std::string printable(std::string_view text);

/// printable(text) in double quotes, for messages.
std::string in_quotes(std::string_view text);

}  // namespace firstlayer
