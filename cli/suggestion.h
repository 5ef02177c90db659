#pragma once
// What somebody meant who mistyped a name.

#include <string>
#include <string_view>
#include <vector>

namespace firstlayer::cli {

/// The nearest of `names` to `word` in letters changed, added, left out or swapped with a neighbour; empty if none is
/// near: at most one change for every three letters, and one more.
///   nearest("--contxt", {"--count", "--context"}) == "--context"
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace firstlayer::cli
