#pragma once
// Where a text that arrives token by token can be shown: tokens may end inside a character.

#include <cstddef>
#include <string_view>

namespace firstlayer {

/// The bytes of `text` before a character at its end that further bytes may complete; all of them if there is none.
///   whole_characters("a\xf0\x9f") == 1
std::size_t whole_characters(std::string_view text);

}  // namespace firstlayer
