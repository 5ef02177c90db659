#include "firstlayer/train/generate/whole_characters.h"

#include <algorithm>

namespace firstlayer {
namespace {

/// Bytes of the character that `lead` begins; 1 if it begins none.
std::size_t character_bytes(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 1;
}

}  // namespace

std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;  // the lead byte is before it
    return character_bytes(byte) > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace firstlayer
