#pragma once
// What the loss tells the tables: a gradient for the rows that were used, and nothing for the others.

#include <span>
#include <vector>

#include "firstlayer/base/half.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

/// The gradient of a table (V, d), whose rows are zero but for those of U ids. assign() reuses its memory.
class RowGradient {
 public:
  /// Rows for these ids of width `dim`; what they hold is not specified. Throws std::invalid_argument unless the ids
  /// are different and ascending.
  void assign(std::span<const TokenId> ids, std::size_t dim);

  std::span<const TokenId> ids() const noexcept { return ids_; }  ///< (U,)
  View<float, 2> rows() { return {memory_.flat().first(ids_.size() * dim_), {ids_.size(), dim_}}; }
  View<const float, 2> rows() const { return {memory_.flat().first(ids_.size() * dim_), {ids_.size(), dim_}}; }

 private:
  std::vector<TokenId> ids_;
  std::size_t dim_ = 0;
  Tensor<float, 1> memory_;  ///< at least U * d floats
};

/// The gradient of lookup_rows(table (V, d), ids (B, T)) for dout (B, T, d): row i is the sum of dout[b, t] over the
/// places where ids[b, t] is i, taken in ascending order of b, t in float32, which gives the bits of PyTorch's dense
/// gradient for any number of threads (0: all). Throws std::invalid_argument for a dout of another shape.
void lookup_gradient(const RowGroups& groups, View<const float, 3> dout, RowGradient& gradient, unsigned threads = 0);

/// The same for a dout of 16-bit numbers, which are added as floats: the sum of 1,000 ones is 1,000 and not 256.
void lookup_gradient(const RowGroups& groups, View<const BFloat16, 3> dout, RowGradient& gradient,
                     unsigned threads = 0);
void lookup_gradient(const RowGroups& groups, View<const Float16, 3> dout, RowGradient& gradient, unsigned threads = 0);

/// The same from ids. Throws std::out_of_range naming an id that is no row of the table and its (b, t).
RowGradient lookup_gradient(const Shape<2>& table, IdView ids, View<const float, 3> dout, unsigned threads = 0);

/// The gradient of positions 0 .. T-1 that were added to every row of the batch: dpositions[t] = sum over b of
/// dout[b, t], with the bits of PyTorch's sum over the batch on one thread. Throws std::invalid_argument unless
/// dpositions is (T, d).
void position_gradient(View<const float, 3> dout, View<float, 2> dpositions, unsigned threads = 0);

/// dtable[i] += gradient[i] for the rows of the gradient, which makes the dense gradient from zeros. Throws
/// std::out_of_range for an id that is no row of it, std::invalid_argument for another width.
void add_rows(const RowGradient& gradient, View<float, 2> dtable);

/// table[i] -= rate * gradient[i] for the rows of the gradient; the others are not touched. Throws as add_rows().
void descend(View<float, 2> table, const RowGradient& gradient, float rate);

}  // namespace firstlayer
