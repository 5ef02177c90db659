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

void count_ids(std::span<const TokenId> ids, std::vector<RowMove>& rows) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= rows.size()) {
      throw_out_of_range("moved_rows", "ids below V = " + std::to_string(rows.size()),
                         std::to_string(ids[i]) + " at place " + std::to_string(i));
    }
    ++rows[ids[i]].met;
  }
}

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

MovedRows moved_rows(View<const float, 2> start, View<const float, 2> now, std::span<const TokenId> ids,
                     unsigned threads) {
  if (start.shape() != now.shape()) {
    throw_invalid("moved_rows", "a table of the start's shape " + shape_text(start.shape()), shape_text(now.shape()));
  }
  MovedRows moved;
  moved.rows.resize(now.dim(0));
  count_ids(ids, moved.rows);
  parallel_for(now.dim(0), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      moved.rows[i].distance = std::sqrt(exact_sums::squared_distance(now[i], start[i]));
      moved.rows[i].changed = differing_bits(now[i], start[i]) > 0;
    }
  });
  moved.met = group_of(moved.rows, true);
  moved.not_met = group_of(moved.rows, false);
  return moved;
}

}  // namespace firstlayer
