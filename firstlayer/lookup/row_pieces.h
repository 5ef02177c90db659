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
    constexpr std::size_t kTileBytes = 4 << 10;
    const auto [B, T, d] = job.out.shape();
    rows = B;
    length = T;
    tile = std::max<std::size_t>(1, kTileBytes / sizeof(float) / d);
    count = B * ((T + tile - 1) / tile);
  }

  std::size_t rows;    ///< B
  std::size_t length;  ///< T
  std::size_t tile;    ///< positions
  std::size_t count;   ///< of pieces
};

/// Walks over the places (b, t) of pieces begin .. end - 1.
class Walk {
 public:
  Walk(const Pieces& pieces, std::size_t begin, std::size_t end) : pieces_(pieces), piece_(begin), end_(end) {
    enter();
  }

  bool done() const { return piece_ >= end_; }
  std::size_t b() const { return b_; }
  std::size_t t() const { return t_; }

  void next() {
    if (++t_ < tile_end_) return;
    ++piece_;
    enter();
  }

 private:
  void enter() {
    b_ = piece_ % pieces_.rows;
    t_ = piece_ / pieces_.rows * pieces_.tile;
    tile_end_ = std::min(pieces_.length, t_ + pieces_.tile);
  }

  const Pieces& pieces_;
  std::size_t piece_;
  std::size_t end_;
  std::size_t b_;
  std::size_t t_;
  std::size_t tile_end_;
};

}  // namespace firstlayer::row_kernels
