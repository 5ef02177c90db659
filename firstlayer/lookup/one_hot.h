#pragma once
// Why a lookup is a matrix product: the ids as one-hot rows, times the table. For study and for tests; the lookup gives
// the same numbers without the V products for each. The gradient is the other half: the transposed one-hot matrix times
// the gradient of the output.

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/id_view.h"

namespace firstlayer {

/// out = one_hot(ids) x table, every product and sum carried out: ids (B, T), table (V, d), out (B, T, d).
/// Equal to lookup_rows() to the bit for tables of finite values, but that -0.0 becomes 0.0: the sum holds 0 x value of
/// every other row. Throws as lookup_rows().
void one_hot_lookup(View<const float, 2> table, IdView ids, View<float, 3> out);

/// dtable = one_hot(ids) transposed x dout: ids (B, T), dout (B, T, d), dtable (V, d). Holds the rows of
/// lookup_gradient() to the bit, for finite dout, and zeros in the others. Throws as lookup_gradient().
void one_hot_gradient(IdView ids, View<const float, 3> dout, View<float, 2> dtable);

}  // namespace firstlayer
