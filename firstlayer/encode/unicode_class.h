#pragma once
// What GPT-2's split rule asks of a character: letter, number, white space, or none of them.

#include <cstddef>
#include <cstdint>

namespace firstlayer {

enum class CharClass : std::uint8_t {
  kOther,   ///< [^\s\p{L}\p{N}], invalid bytes among them
  kLetter,  ///< \p{L}
  kNumber,  ///< \p{N}
  kSpace,   ///< \s
};

/// Two-level table: a block holds the classes of 64 code points, those that differ only in the last UTF-8 byte.
extern const std::uint16_t kUnicodeBlockOf[];
extern const CharClass kUnicodeClassOf[];

/// The class by the Unicode version named in unicode_class_tables.cpp; code_point <= U+10FFFF.
inline CharClass char_class(char32_t code_point) {
  return kUnicodeClassOf[std::size_t{kUnicodeBlockOf[code_point >> 6]} * 64 + (code_point & 63)];
}

}  // namespace firstlayer
