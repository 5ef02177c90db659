#pragma once
// Which rows of a table a training has moved, and how far: those that its text met, and those that it did not.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/tensor.h"

namespace firstlayer {

/// What became of one row.
struct RowMove {
  std::uint64_t met;  ///< how often the text has its id
  double distance;    ///< |now - start|
  bool changed;       ///< a bit of it is another
};

/// Some rows of the table.
struct RowGroup {
  std::size_t rows = 0;
  std::size_t changed = 0;
  double median_distance = 0;  ///< of an even number of rows, the mean of the two in the middle; 0 for none
};

struct MovedRows {
  std::vector<RowMove> rows;  ///< (V,)
  RowGroup met;               ///< rows whose id the text has
  RowGroup not_met;           ///< the others
};

/// Compares a table (V, d) with itself before; counts (V,) say how often the text has each id, as count_ids() gives
/// them (skip_gram.h). Distances are sums in float64 in one order, the same bits on every processor and for any number
/// of `threads` (0: all). Throws std::invalid_argument for tables of two shapes or counts of another V.
MovedRows moved_rows(View<const float, 2> start, View<const float, 2> now, std::span<const std::uint64_t> counts,
                     unsigned threads = 0);

}  // namespace firstlayer
