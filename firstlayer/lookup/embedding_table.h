#pragma once
// A learned table: row i is the vector of id (or position) i.

#include <cstddef>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/id_view.h"

namespace firstlayer {

/// (rows, dim) float32, N(0, std) drawn from `generator` as torch.nn.Embedding(rows, dim) draws its weight (std 1);
/// GPT-2 uses 0.02 for tokens and 0.01 for positions. Throws std::invalid_argument if a size is 0 or std is negative
/// or not finite.
Tensor<float, 2> random_table(std::size_t rows, std::size_t dim, Generator& generator, double std = 1.0);

/// Copies row ids[b, t] of `table` (V, d) to out[b, t]; ids (B, T), out (B, T, d), which does not overlap the table.
/// On `threads` threads, 0: all. Throws std::out_of_range naming an id that is no row, its (b, t) and V;
/// std::invalid_argument for an `out` of another shape. Nothing is written then.
void lookup_rows(View<const float, 2> table, IdView ids, View<float, 3> out, unsigned threads = 0);

}  // namespace firstlayer
