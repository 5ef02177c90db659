#include "firstlayer/formats/file_limits.h"

#include "firstlayer/base/utf8.h"

namespace firstlayer {

std::string quoted_text(std::string_view text) {
  constexpr std::size_t kShown = 80;
  if (text.size() <= kShown) return '"' + printable(text) + '"';
  std::size_t cut = kShown;
  while (cut > kShown - 3 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
  return '"' + printable(text.substr(0, cut)) + "\"… (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace firstlayer
