#pragma once
// Products of a matrix with one vector. Every number of the matrix is read once, so that its bytes are what the time
// goes to. Internal to the library.

#include <cstddef>

#include "firstlayer/base/half.h"

namespace firstlayer {

/// A matrix (rows, columns), row after row, in float32 or in bfloat16: the other pointer is null.
struct WeightMatrix {
  const float* floats;
  const BFloat16* halves;
  std::size_t rows;
  std::size_t columns;
};

/// y[n] += x[0] W[0, n], then x[1] W[1, n], and so on over all rows, for n in [begin, end). x is (rows,), y (columns,).
void add_row_products(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* y);
void add_row_products_reference(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end,
                                float* y);

/// out[i] = W[i] . x for i in [begin, end). x is (columns,), out (rows,). The reference adds in the order of the
/// columns, and the fast one in as many sums side by side as the processor's vectors have lanes.
void row_dots(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* out);
void row_dots_reference(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* out);

/// Rows [row, row + rows) of columns [column, column + columns) in float32, `stride` floats from one row to the next.
struct WeightBlock {
  std::size_t row;
  std::size_t rows;
  std::size_t column;
  std::size_t columns;
  float* out;
  std::size_t stride;
};
void copy_block(const WeightMatrix& matrix, const WeightBlock& block);

}  // namespace firstlayer
