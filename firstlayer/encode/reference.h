#pragma once
// Byte-pair encoding as it is defined, to be read and to be compared with. The fast path is split.h and merge.h.

#include <cstddef>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/vocabulary.h"

namespace firstlayer {

/// Cuts text into pieces as GPT-2's pattern matches it, alternatives tried in this order at each place:
///   '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$|\s+(?!\S)|\s
/// The pieces joined are the text. An invalid byte counts as U+FFFD, which is neither letter, number nor space.
///   split_reference("I'll  try") == {"I", "'ll", " ", " try"}
std::vector<std::string_view> split_reference(std::string_view text);

/// Appends the ids of one piece: starts from its bytes, and as long as two neighbours merge to a token replaces the
/// pair whose token has the lowest id, the leftmost of equals. Quadratic in the length of the piece.
void merge_reference(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& ids);

/// Splits, then merges each piece.
std::vector<TokenId> encode_reference(const Vocabulary& vocabulary, std::string_view text);

}  // namespace firstlayer
