#pragma once
// How a lookup is cut into pieces of work. Internal to the library.

#include <algorithm>
#include <cstddef>

#include "firstlayer/lookup/row_kernels.h"

namespace firstlayer::row_kernels {

/// Positions are cut in tiles whose rows of the position table stay in the first-level cache while all B rows of ids
/// pass over them. Piece i is tile i / B of row i % B.
struct Pieces {
  explicit Pieces(const Job& job) {
    constexpr std::size_t kTileBytes = 16 << 10;
    const auto [B, T, d] = job.out.shape();
    rows = B;
    length = T;
    tile = std::max<std::size_t>(1, kTileBytes / sizeof(float) / d);
    count = B * ((T + tile - 1) / tile);
  }

  std::size_t row(std::size_t piece) const { return piece % rows; }
  std::size_t begin(std::size_t piece) const { return piece / rows * tile; }
  std::size_t end(std::size_t piece) const { return std::min(length, begin(piece) + tile); }

  std::size_t rows;
  std::size_t length;
  std::size_t tile;   ///< positions
  std::size_t count;  ///< of pieces
};

}  // namespace firstlayer::row_kernels
