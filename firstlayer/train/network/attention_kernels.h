#pragma once
// Tiles of 32 keys by 32 queries, each key a row of 32 floats. Internal to the library.

#include <cstddef>

#include "firstlayer/train/network/panels.h"

namespace firstlayer {

inline constexpr std::size_t kTileFloats = kPanelRows * kPanelRows;

/// How products of queries and keys become scores: product * scale + slope * (key - query), for the keys that a query
/// may see. `distance` is the first key's place minus the first query's; 0 on the diagonal.
struct ScoreRule {
  float scale;
  float slope;
  float distance;

  bool diagonal() const { return distance == 0; }
};

/// One tile of online softmax (Milakov and Gimelshein, 2018): products become exponentials of scores with `largest`
/// taken off, 0 for keys that the query may not see.
struct SoftmaxTile {
  float* tile;  ///< (keys, queries)
  ScoreRule rule;
  float* largest;  ///< (32,) of each query so far: becomes that with this tile
  float* sums;     ///< (32,) of exponentials so far, likewise
  float* factors;  ///< (32,) result: by what all earlier exponentials shrink
};
void softmax_tile(const SoftmaxTile& job);
void softmax_tile_reference(const SoftmaxTile& job);

/// The way back of a tile: products become shares, and gradients of shares become those of the products.
struct SoftmaxGradientTile {
  float* shares;     ///< (keys, queries): products; becomes exp(score - log_sum), 0 for keys that are not seen
  float* gradients;  ///< (keys, queries): dshare; becomes share (dshare - mean) scale
  ScoreRule rule;
  const float* log_sums;  ///< (32,)
  const float* means;     ///< (32,) the mean of dshare over all keys, weighed by the shares
};
void softmax_gradient_tile(const SoftmaxGradientTile& job);
void softmax_gradient_tile_reference(const SoftmaxGradientTile& job);

}  // namespace firstlayer
