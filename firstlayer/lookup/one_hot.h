#pragma once
// Why a lookup is a matrix product: the ids as one-hot rows, times the table. For study and for tests; the lookup gives
// the same numbers without the V products for each.

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// out = one_hot(ids) x table, every product and sum carried out: ids (B, T), table (V, d), out (B, T, d).
/// Equal to lookup_rows() to the bit for tables of finite values, but that -0.0 becomes 0.0: the sum holds 0 x value of
/// every other row. Throws as lookup_rows().
void one_hot_lookup(View<const float, 2> table, View<const TokenId, 2> ids, View<float, 3> out);

}  // namespace firstlayer
