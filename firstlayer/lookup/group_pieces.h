#pragma once
// How the work on the groups of a batch is cut into parts. Internal to the library.

#include <algorithm>
#include <cstddef>

#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

/// The columns of each group's row are cut into chunks, so that threads share even a batch of one id; a chunk costs as
/// many units of work as the group has places, and some for the row itself. The sum of a number is never cut.
class GroupPieces {
 public:
  static constexpr std::size_t kChunk = 256;  ///< floats, a multiple of every vector

  /// For rows of `dim` floats; with `whole_rows` a row is one chunk.
  GroupPieces(const RowGroups& groups, std::size_t dim, bool whole_rows = false)
      : groups_(groups),
        chunk_(whole_rows ? std::max<std::size_t>(1, dim) : kChunk),
        chunks_((dim + chunk_ - 1) / chunk_),
        dim_(dim) {}

  /// Units of work in all.
  std::size_t work() const { return cost_before(groups_.size()) * chunks_; }

  /// Calls use(u, begin, end) for the columns [begin, end) of the rows u that parts of the work [from, to) cover.
  template <class Use>
  void visit(std::size_t from, std::size_t to, Use use) const {
    const Place first = place_of(from);
    const Place last = place_of(to);
    for (std::size_t u = first.group; u < groups_.size() && u <= last.group; ++u) {
      const std::size_t begin = u == first.group ? first.chunk * chunk_ : 0;
      const std::size_t end = u == last.group ? std::min(dim_, last.chunk * chunk_) : dim_;
      if (begin < end) use(u, begin, end);
    }
  }

 private:
  static constexpr std::size_t kRowCost = 3;  ///< what is done once for a row, in rows of gradient
  struct Place {
    std::size_t group;
    std::size_t chunk;
  };

  std::size_t cost_before(std::size_t group) const { return groups_.starts()[group] + kRowCost * group; }

  Place place_of(std::size_t work) const {
    std::size_t low = 0;
    std::size_t high = groups_.size();
    while (low < high) {  // the first group that begins beyond this work
      const std::size_t middle = low + (high - low) / 2;
      if (cost_before(middle + 1) * chunks_ <= work) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == groups_.size()) return {low, 0};
    return {low, (work - cost_before(low) * chunks_) / (cost_before(low + 1) - cost_before(low))};
  }

  const RowGroups& groups_;
  std::size_t chunk_;
  std::size_t chunks_;
  std::size_t dim_;
};

}  // namespace firstlayer
