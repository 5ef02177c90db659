#pragma once
// What the readers of tensor files share: how far they trust a header, and how they quote it in an error.

#include <cstddef>
#include <string>
#include <string_view>

namespace firstlayer {

/// Axes a stored tensor may have, as in NumPy. A header that claims more is refused before it costs memory.
inline constexpr std::size_t kMaxAxes = 64;

/// Text out of a file, for an error message: in double quotes, escaped on one line, cut if it is long.
///   quoted_text("wte\n") == "\"wte\\n\""
std::string quoted_text(std::string_view text);

}  // namespace firstlayer
