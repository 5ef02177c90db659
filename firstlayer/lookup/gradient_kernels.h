#pragma once
// The sums behind every gradient. Internal to the library; gradient.cpp checks what comes in.

#include <cstddef>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer::gradient_kernels {

/// rows[u] = the sum of the rows of dout (places, dim) of group u, from zero, in ascending order; rows (U, dim).
/// Element is float, BFloat16 or Float16; sums are float.
template <class Element>
void sum_groups_reference(const RowGroups& groups, const Element* dout, std::size_t dim, float* rows);
template <class Element>
void sum_groups(const RowGroups& groups, const Element* dout, std::size_t dim, float* rows, unsigned threads);

/// sums[c] = the sum of dout[b, c] over b, for dout (batch, columns), in the order of PyTorch 2.13's sum over the outer
/// axis on one thread. Whole blocks of 32 columns: one row after the other in blocks of 16, whose sums go to a second
/// level, of which 16 go to a third, and so on. The columns behind them: rows b with the same b % 4 in that way, then
/// the rows left over on the first of those four sums, then the other three sums on it.
void sum_batch_reference(const float* dout, std::size_t batch, std::size_t columns, float* sums);
void sum_batch(const float* dout, std::size_t batch, std::size_t columns, float* sums, unsigned threads);

/// Column c of it.
float column_sum(const float* dout, std::size_t batch, std::size_t columns, std::size_t c);

/// The first of the columns that are summed the other way.
inline std::size_t blocked_columns(std::size_t columns) { return columns / 32 * 32; }

/// The levels of one such sum of `count` rows.
struct Cascade {
  static constexpr std::size_t kLevels = 4;
  explicit Cascade(std::size_t count);

  /// Whether a block ends after `done` rows, and how many levels are then carried up.
  bool ends_block(std::size_t done) const { return (done & ((std::size_t{1} << bits) - 1)) == 0; }
  std::size_t carries(std::size_t done) const;

  std::size_t bits;  ///< a block holds 2^bits
};

}  // namespace firstlayer::gradient_kernels
