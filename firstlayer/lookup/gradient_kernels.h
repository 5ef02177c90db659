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

/// dpositions[t] = the sum of dout[b, t] over b, dpositions (T, d), in the order of PyTorch's sum over an outer axis:
/// one after the other in blocks of 16, whose sums go to a second level, of which 16 go to a third, and so on.
void sum_batch_reference(View<const float, 3> dout, float* dpositions);
void sum_batch(View<const float, 3> dout, float* dpositions, unsigned threads);

/// Levels and block length of that order for B rows.
struct Cascade {
  static constexpr std::size_t kLevels = 4;
  explicit Cascade(std::size_t count);

  std::size_t bits;  ///< a block holds 2^bits
  /// How many levels are carried up once `done` rows, a multiple of a block, are summed.
  std::size_t carries(std::size_t done) const;
};

}  // namespace firstlayer::gradient_kernels
