#pragma once
// Text broken into lines.

#include <cstddef>
#include <string>
#include <string_view>

namespace firstlayer::cli {

/// Appends `text` and a line end to `page`, which stands at column `indent`. Lines are broken between words before
/// column `columns` and start at `indent`.
void append_wrapped(std::string& page, std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace firstlayer::cli
