#pragma once
// A table and its queries in 8-bit integers, with what the rounding may have changed. Internal to the library.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/view/byte_dots.h"
#include "firstlayer/view/neighbors.h"
#include "firstlayer/view/row_bounds.h"

namespace firstlayer {

/// A number that is not smaller, or not larger, in float32. Nothing but infinity becomes infinite.
float rounded_up(double value);
float rounded_down(double value);

class ByteRows {
 public:
  /// Rounds table (V, d), which must stay where it is. On `threads` threads, 0: all. Throws as NeighborTable.
  ByteRows(View<const float, 2> table, Metric metric, unsigned threads);

  View<const float, 2> table() const noexcept { return table_; }
  const Shape<2>& shape() const noexcept { return table_.shape(); }
  Metric metric() const noexcept { return metric_; }
  std::size_t quads() const noexcept { return quads_; }
  std::size_t blocks() const noexcept { return blocks_; }

  /// |row|, as exact_sums defines it.
  double norm(std::size_t row) const { return norms_[row]; }

  /// The unit of lengths: the largest norm; 1 for the cosine, whose rows have a unit each, and where all rows are zero.
  double unit() const noexcept { return unit_; }

  const std::uint8_t* block(std::size_t index) const {
    return bytes_.flat().data() + index * quads_ * byte_dots::kBlockBytes;
  }

  /// The rows of blocks [first, last).
  RowRange rows_of(std::size_t first, std::size_t last) const;

 private:
  void measure(unsigned threads);
  void round_block(std::size_t block);

  View<const float, 2> table_;
  Metric metric_;
  std::size_t quads_;
  std::size_t blocks_;
  double unit_ = 1.0;
  std::vector<double> norms_;
  Tensor<std::uint8_t, 1> bytes_;
  std::vector<float> scale_;  ///< these four as RowFactors, up to a whole block
  std::vector<float> error_;
  std::vector<float> size_;
  std::vector<float> offset_;
};

/// Queries for such a table.
class ByteQueries {
 public:
  /// Rounds queries (Q, d), whose numbers are finite; they must stay where they are.
  ByteQueries(View<const float, 2> queries, const ByteRows& rows);

  std::size_t count() const noexcept { return queries_.shape()[0]; }
  std::span<const float> values(std::size_t query) const { return queries_[query]; }
  double norm(std::size_t query) const { return norms_[query]; }
  double unit(std::size_t query) const { return units_[query]; }
  const QueryFactors& factors(std::size_t query) const { return factors_[query]; }

  /// The dot products of queries [first, first + count), at most byte_dots::kGroup, with `blocks` blocks of rows from
  /// `block` on, into out (count, blocks * 16).
  void multiply(std::size_t first, std::size_t count, const ByteRows& rows, std::size_t block, std::size_t blocks,
                std::int32_t* out) const;

 private:
  View<const float, 2> queries_;
  const byte_dots::Kernel& kernel_;
  std::size_t quads_;
  std::vector<double> norms_;
  std::vector<double> units_;
  std::vector<QueryFactors> factors_;
  std::vector<std::int8_t> bytes_;
  std::vector<std::int32_t> zero_shares_;
};

/// Throws std::invalid_argument naming the first number that is not finite:
///   [where] expected finite numbers, received nan at table[7, 3]
void check_all_finite(std::string_view where, std::string_view name, View<const float, 2> values);

}  // namespace firstlayer
