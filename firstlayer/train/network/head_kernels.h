#pragma once
// The exponentials of tiles of logits. Internal to the library.

#include <cstddef>

#include "firstlayer/train/network/panels.h"

namespace firstlayer {

/// Logits of some tokens for one panel: (tokens, 32), aligned to 64 bytes.
struct LogitTile {
  float* logits;
  std::size_t tokens;
};

/// largest[lane] = the larger of it and of all logits of its row.
void largest_logits(const LogitTile& tile, float* largest);
void largest_logits_reference(const LogitTile& tile, float* largest);

/// Replaces every logit by exp(logit - offset[lane]) and adds it to sums[lane]. With `keep`, a copy goes past the
/// caches to where head_strip() says.
struct TileExponentials {
  LogitTile tile;
  const float* offsets;  ///< (32,)
  float* sums;           ///< (32,)
  float* keep;           ///< of the tile's first token, which begins a strip; or nullptr
  std::size_t strip;     ///< floats from one strip of kStripRows tokens to the next in `keep`
};
void tile_exponentials(const TileExponentials& job);
void tile_exponentials_reference(const TileExponentials& job);

}  // namespace firstlayer
