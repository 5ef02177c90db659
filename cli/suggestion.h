#pragma once
// What somebody meant who mistyped a name.

#include <string>
#include <string_view>
#include <vector>

namespace firstlayer::cli {

/// The only one of `names` that begins with `word`; else the nearest in letters changed, added, left out or swapped
/// with a neighbour, at most one for every three letters and one more; else nothing.
///   nearest("--contxt", {"--count", "--context"}) == "--context"
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace firstlayer::cli
