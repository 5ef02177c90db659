#pragma once
// How a lookup is cut into pieces of work. Internal to the library.

#include <algorithm>
#include <cstddef>

#include "firstlayer/lookup/row_kernels.h"

namespace firstlayer::row_kernels {

/// A piece is some places of one row of ids, and of them all columns or some. What it needs of the position table is
/// small enough to stay in the first-level cache while all B rows of ids pass over it: piece i is of row i % B.
struct Pieces {
  explicit Pieces(const Job& job) {
    constexpr std::size_t kFloats = 1024;  // of the position table
    constexpr std::size_t kLine = 64 / sizeof(float);
    const auto [B, T, d] = job.out.shape();
    rows = B;
    length = T;
    dim = d;
    tile = std::max<std::size_t>(1, kFloats / d);
    parts = job.finish == nullptr ? (d + kFloats - 1) / kFloats : 1;  // who finishes a row wants it whole
    width = std::min(d, (d + parts * kLine - 1) / (parts * kLine) * kLine);
    parts = (d + width - 1) / width;
    count = B * ((T + tile - 1) / tile) * parts;
  }

  std::size_t rows;    ///< B
  std::size_t length;  ///< T
  std::size_t dim;     ///< d
  std::size_t tile;    ///< positions of a piece
  std::size_t width;   ///< columns of a piece
  std::size_t parts;   ///< pieces that make whole rows
  std::size_t count;   ///< of pieces
};

/// Walks over the places (b, t) of pieces begin .. end - 1: each time columns [first_column(), end_column()) of one.
class Walk {
 public:
  Walk(const Pieces& pieces, std::size_t begin, std::size_t end) : pieces_(pieces), piece_(begin), end_(end) {
    enter();
  }

  bool done() const { return piece_ >= end_; }
  std::size_t b() const { return b_; }
  std::size_t t() const { return t_; }
  std::size_t first_column() const { return first_column_; }
  std::size_t end_column() const { return end_column_; }

  void next() {
    if (++t_ < tile_end_) return;
    ++piece_;
    enter();
  }

 private:
  void enter() {
    const std::size_t part = piece_ / pieces_.rows;
    b_ = piece_ % pieces_.rows;
    t_ = part / pieces_.parts * pieces_.tile;
    tile_end_ = std::min(pieces_.length, t_ + pieces_.tile);
    first_column_ = part % pieces_.parts * pieces_.width;
    end_column_ = std::min(pieces_.dim, first_column_ + pieces_.width);
  }

  const Pieces& pieces_;
  std::size_t piece_;
  std::size_t end_;
  std::size_t b_;
  std::size_t t_;
  std::size_t tile_end_;
  std::size_t first_column_;
  std::size_t end_column_;
};

}  // namespace firstlayer::row_kernels
