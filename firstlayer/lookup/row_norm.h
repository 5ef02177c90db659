#pragma once
// Rows kept below a norm, as torch.embedding_renorm_ does it. Internal to the library.

#include <span>
#include <string_view>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// Throws std::invalid_argument for a max_norm that is negative or NaN or a norm_type that is not positive.
void check_norm_options(std::string_view where, double max_norm, double norm_type);

/// The p-norm of a row, p > 0 or infinity. For p of 1, 2 and infinity it has the bits of torch.linalg.vector_norm on
/// x86-64; others are computed in double and rounded.
float row_norm(std::span<const float> row, double p);

/// Multiplies each of these rows (of `table`, different) whose norm is larger than max_norm by
/// float(max_norm / (norm + 1e-7)). On `threads` threads, 0: all.
void limit_row_norms(View<float, 2> table, std::span<const TokenId> ids, double max_norm, double norm_type,
                     unsigned threads);

}  // namespace firstlayer
