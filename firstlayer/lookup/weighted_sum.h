#pragma once
// A sum of picked rows, each with a weight or without: bags, and gradients that are scaled place by place.
// Internal to the library.

#include <cstddef>
#include <cstdint>
#include <span>

namespace firstlayer::weighted_sum {

/// out = the sum of rows[indices[i]], from zero in the order of i, one rounding an addition; row r is the `dim` floats
/// from rows + r * dim. With weights, one for each index, weights[i] * row is added in one rounding (fused), as PyTorch
/// does on x86-64 and arm64.
void sum_reference(const float* rows, std::size_t dim, std::span<const std::uint32_t> indices,
                   std::span<const float> weights, float* out);

/// The same bits on the vectors of this processor.
void sum(const float* rows, std::size_t dim, std::span<const std::uint32_t> indices, std::span<const float> weights,
         float* out);

}  // namespace firstlayer::weighted_sum
