#pragma once
// What the loss tells a looked-up table: a gradient for the rows that were used, and nothing for the others.

#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// The gradient of a table (V, d), whose rows are zero but for those of U ids.
struct RowGradient {
  std::vector<TokenId> ids;  ///< U different ids, ascending
  Tensor<float, 2> rows;     ///< (U, d): rows[u] is the gradient of row ids[u]
};

/// The gradient of lookup_rows(table (V, d), ids (B, T)) for dout (B, T, d): row i is the sum of dout[b, t] over the
/// places where ids[b, t] is i, taken in ascending order of b, t in float32, which gives the bits of PyTorch's dense
/// gradient. Throws std::out_of_range naming an id >= V and its (b, t); std::invalid_argument for a dout of another
/// shape.
RowGradient lookup_gradient(const Shape<2>& table, View<const TokenId, 2> ids, View<const float, 3> dout);

/// table[i] -= rate * gradient[i] for the rows of the gradient; the others are not touched. Throws
/// std::out_of_range for an id that is no row of the table, std::invalid_argument for another width.
void descend(View<float, 2> table, const RowGradient& gradient, float rate);

}  // namespace firstlayer
