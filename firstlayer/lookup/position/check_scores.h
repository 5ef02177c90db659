#pragma once
// What every bias on attention scores asks of their shape. Internal to the library.

#include <cstddef>
#include <string_view>

namespace firstlayer {

/// Scores (heads, queries, keys), whose last query is the last key's. Throws std::invalid_argument for a size of 0 or
/// more queries than keys.
void check_scores(std::string_view where, std::size_t heads, std::size_t queries, std::size_t keys);

}  // namespace firstlayer
