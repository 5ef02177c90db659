#include "firstlayer/train/generate/weight_matrix.h"

namespace firstlayer {
namespace {

float weight_at(const WeightMatrix& matrix, std::size_t row, std::size_t column) {
  const std::size_t at = row * matrix.columns + column;
  return matrix.floats != nullptr ? matrix.floats[at] : static_cast<float>(matrix.halves[at]);
}

}  // namespace

void add_row_products_reference(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end,
                                float* y) {
  for (std::size_t k = 0; k < matrix.rows; ++k) {
    for (std::size_t n = begin; n < end; ++n) y[n] += x[k] * weight_at(matrix, k, n);
  }
}

void row_dots_reference(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* out) {
  for (std::size_t i = begin; i < end; ++i) {
    out[i] = 0;
    for (std::size_t k = 0; k < matrix.columns; ++k) out[i] += weight_at(matrix, i, k) * x[k];
  }
}

}  // namespace firstlayer
