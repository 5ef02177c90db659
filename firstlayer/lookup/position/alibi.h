#pragma once
// ALiBi: attention with linear biases. The further back a key, the lower its score; each head has its own slope.
// Press, Smith and Lewis, "Train Short, Test Long", 2022.

#include <cstddef>
#include <vector>

#include "firstlayer/base/tensor.h"

namespace firstlayer {

/// One slope for each head, steepest first: 2^(-8(h+1)/n) for n heads; alibi_slopes(8) == {1/2, 1/4, …, 1/256}. If n
/// is not a power of two, the slopes of the power p below it, then the 1st, 3rd, 5th, … slope of 2p heads, as the
/// authors' code does. Computed in double and rounded once. Throws std::invalid_argument for 0 heads.
std::vector<float> alibi_slopes(std::size_t heads);

/// (heads, queries, keys), to be added to the scores before a causal mask: slope[h] * (j - i), which is 0 for a query's
/// own key and negative before it. Key j stands at position j and query q at i = keys - queries + q, so that the last
/// query is the last key's, with a key-value cache or without. Throws std::invalid_argument for a size of 0 or more
/// queries than keys.
Tensor<float, 3> alibi_bias(std::size_t heads, std::size_t queries, std::size_t keys);

}  // namespace firstlayer
