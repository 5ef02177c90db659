#pragma once
// What every lookup refuses, in the same words. Internal to the library.

#include <cstddef>
#include <string_view>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// Throws std::out_of_range if an id is not below V, for a table of shape (V, d).
///   [InputEmbedding::forward] expected ids below V = 50257, received 50300 at (b=3, t=7)
void check_ids(std::string_view where, const Shape<2>& table, View<const TokenId, 2> ids);

/// Throws std::invalid_argument unless out is (B, T, d).
void check_out(std::string_view where, View<const TokenId, 2> ids, std::size_t dim, View<float, 3> out);

/// Throws std::invalid_argument unless dout is (B, T, d).
void check_dout(std::string_view where, View<const TokenId, 2> ids, std::size_t dim, View<const float, 3> dout);

}  // namespace firstlayer
