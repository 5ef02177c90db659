#include "cli/wrapped_text.h"

#include <algorithm>

namespace firstlayer::cli {

void append_wrapped(std::string& page, std::string_view text, std::size_t indent, std::size_t columns) {
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > indent && column + 1 + word.size() > columns) {
      page.append("\n").append(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      page += ' ';
      ++column;
    }
    page += word;
    column += word.size();
  }
  page += '\n';
}

}  // namespace firstlayer::cli
