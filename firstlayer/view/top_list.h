#pragma once
// The best of many: what every search keeps while it looks. Internal to the library.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// A row with its rank: a larger key is better, and of equal keys the lower id.
struct Ranked {
  double key;
  TokenId id;

  bool before(const Ranked& other) const { return key != other.key ? key > other.key : id < other.id; }
};

/// The best `most` of all rows that are offered, whatever their order.
class TopList {
 public:
  explicit TopList(std::size_t most) : most_(most) {}

  void offer(const Ranked& row) {
    const auto before = [](const Ranked& a, const Ranked& b) { return a.before(b); };
    if (rows_.size() == most_) {
      if (!row.before(rows_.front())) return;
      std::pop_heap(rows_.begin(), rows_.end(), before);
      rows_.back() = row;
    } else {
      rows_.push_back(row);
    }
    std::push_heap(rows_.begin(), rows_.end(), before);
  }

  void merge(const TopList& other) {
    for (const Ranked& row : other.rows_) offer(row);
  }

  /// A row whose key is below this has no place in the list.
  double least_key() const {
    return rows_.size() == most_ ? rows_.front().key : -std::numeric_limits<double>::infinity();
  }

  /// Best first.
  std::vector<Ranked> sorted() && {
    std::sort(rows_.begin(), rows_.end(), [](const Ranked& a, const Ranked& b) { return a.before(b); });
    return std::move(rows_);
  }

 private:
  std::size_t most_;
  std::vector<Ranked> rows_;  ///< a heap whose front is the worst
};

}  // namespace firstlayer
