#include <cmath>

#include "firstlayer/lookup/weighted_sum.h"

namespace firstlayer::weighted_sum {

void sum_reference(const float* rows, std::size_t dim, std::span<const std::uint32_t> indices,
                   std::span<const float> weights, float* out) {
  for (std::size_t k = 0; k < dim; ++k) {
    float sum = 0.0F;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const float value = rows[indices[i] * dim + k];
      sum = weights.empty() ? sum + value : std::fma(value, weights[i], sum);
    }
    out[k] = sum;
  }
}

}  // namespace firstlayer::weighted_sum
