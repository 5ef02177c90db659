#pragma once
// T5's relative positions: distances fall into buckets, and each head learns one number for each bucket.
// Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", 2020.

#include <cstddef>
#include <cstdint>

#include "firstlayer/base/tensor.h"

namespace firstlayer {

/// The defaults are T5's.
struct RelativeBuckets {
  std::size_t count = 32;
  std::size_t max_distance = 128;  ///< from here on all distances share the last bucket
  bool bidirectional = true;       ///< half of the buckets for keys after the query; false: those share bucket 0
};

/// The bucket of `key_minus_query`. Of the n buckets of a direction, n/2 hold one distance each; the others grow with
/// the logarithm: relative_bucket(-5, {}) == 5, relative_bucket(5, {}) == 21, relative_bucket(-64, {}) == 14. Any
/// distance is allowed. Throws std::invalid_argument for fewer than 2 buckets a direction or 2^32 in all, an odd number
/// of buckets for two directions, or a max_distance that is not above the distances with a bucket of their own.
std::size_t relative_bucket(std::int64_t key_minus_query, const RelativeBuckets& buckets);

/// (heads, queries, keys), to be added to the scores: table[bucket of j - i, h] with table (buckets, heads). Key j
/// stands at position j and query q at i = keys - queries + q. Throws as relative_bucket(), and std::invalid_argument
/// for a table of another height, a size of 0 or more queries than keys.
Tensor<float, 3> relative_bias(View<const float, 2> table, std::size_t queries, std::size_t keys,
                               const RelativeBuckets& buckets);

/// The gradient of relative_bias()'s table, (buckets, heads), from that of its result, dbias (heads, queries, keys):
/// each number is the sum over the places of its bucket, in ascending order of query, then key, in float32, which gives
/// PyTorch's bits. Throws as relative_bias().
Tensor<float, 2> relative_bias_gradient(View<const float, 3> dbias, const RelativeBuckets& buckets);

}  // namespace firstlayer
