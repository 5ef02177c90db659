#pragma once
// The split rule, fast: where the next piece ends, and where a text may be cut in two. split_reference() in
// reference.h defines the pieces.

#include <cstddef>
#include <optional>
#include <string_view>

namespace firstlayer {

/// The end of the piece that begins at `begin`, which must be a piece's beginning; begin < end. Amortised linear: a
/// character is looked at once or twice.
const char* next_piece_end(const char* begin, const char* end);

/// The last place p in (from, text.size()) where cutting changes nothing: the pieces of text.substr(0, p) followed by
/// those of text.substr(p) are the pieces of the text, whatever comes after it. That is before an ASCII white space
/// that follows a character which is not white space. No published special token holds such a place either.
std::optional<std::size_t> find_safe_cut(std::string_view text, std::size_t from);

}  // namespace firstlayer
