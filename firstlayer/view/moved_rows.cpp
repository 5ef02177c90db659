#include "firstlayer/view/moved_rows.h"

#include <cmath>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/view/compare.h"
#include "firstlayer/view/exact_sums.h"
#include "firstlayer/view/median.h"

namespace firstlayer {
namespace {

/// The rows that were met, or those that were not.
RowGroup group_of(std::span<const RowMove> rows, bool met) {
  RowGroup group;
  std::vector<double> distances;
  for (const RowMove& row : rows) {
    if ((row.met > 0) != met) continue;
    distances.push_back(row.distance);
    if (row.changed) ++group.changed;
  }
  group.rows = distances.size();
  group.median_distance = median_of(std::move(distances));
  return group;
}

}  // namespace

MovedRows moved_rows(View<const float, 2> start, View<const float, 2> now, std::span<const std::uint64_t> counts,
                     unsigned threads) {
  if (start.shape() != now.shape()) {
    throw_invalid("moved_rows", "a table of the start's shape " + shape_text(start.shape()), shape_text(now.shape()));
  }
  if (counts.size() != now.dim(0)) {
    throw_invalid("moved_rows", "counts of V = " + std::to_string(now.dim(0)) + " ids", std::to_string(counts.size()));
  }
  MovedRows moved;
  moved.rows.resize(now.dim(0));
  parallel_for(now.dim(0), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      moved.rows[i].met = counts[i];
      moved.rows[i].distance = std::sqrt(exact_sums::squared_distance(now[i], start[i]));
      moved.rows[i].changed = differing_bits(now[i], start[i]) > 0;
    }
  });
  moved.met = group_of(moved.rows, true);
  moved.not_met = group_of(moved.rows, false);
  return moved;
}

}  // namespace firstlayer
