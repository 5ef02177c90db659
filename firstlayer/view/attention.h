#pragma once
// Self-attention, as plainly as it can be written: for what it shows about order, not for speed.

#include <cstddef>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"

namespace firstlayer {

/// The projections of one head of width h, each (d, h).
struct AttentionWeights {
  Tensor<float, 2> query;
  Tensor<float, 2> key;
  Tensor<float, 2> value;
};

/// N(0, 1 / d), so that queries, keys and values are about as large as what they are made of. Throws
/// std::invalid_argument if a size is 0.
AttentionWeights random_attention(std::size_t dim, std::size_t head, Generator& generator);

/// x (T, d) times weight (d, h), summed in float64 in ascending order: (T, h). Throws std::invalid_argument if the two
/// d differ.
Tensor<double, 2> project(View<const float, 2> x, View<const float, 2> weight);

/// softmax(Q K^T / sqrt(h)) V, where Q, K, V are x (T, d) projected: (T, h), in float64. Every position sees every
/// other: there is no mask. Attention Is All You Need (2017), equation 1. Throws as project().
Tensor<double, 2> self_attention(View<const float, 2> x, const AttentionWeights& weights);

}  // namespace firstlayer
