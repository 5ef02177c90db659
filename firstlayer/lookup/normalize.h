#pragma once
// Layer norm and RMS norm of the input tensor, without learned weights.

#include <span>
#include <string_view>

#include "firstlayer/base/tensor.h"

namespace firstlayer {

struct Normalization {
  enum class Kind {
    kLayer,  ///< (x - mean) / sqrt(variance + eps), the variance divided by d: torch.nn.functional.layer_norm
    kRms,    ///< x / sqrt(mean of the squares + eps): torch.nn.functional.rms_norm
  };
  Kind kind = Kind::kLayer;
  double eps = 1e-5;
};

/// out[b, t] = the norm of x[b, t] over d, both (B, T, d); `out` is x or does not overlap it. In double, in a fixed
/// order, rounded to float at the end: the bits do not depend on `threads` (0: all) or the processor. Throws
/// std::invalid_argument for an eps that is negative or not finite, or an `out` of another shape.
void normalize(const Normalization& normalization, View<const float, 3> x, View<float, 3> out, unsigned threads = 0);

/// dx for dout, where x is what normalize() was given. `dx` is dout or overlaps nothing. Throws as normalize().
void normalize_gradient(const Normalization& normalization, View<const float, 3> x, View<const float, 3> dout,
                        View<float, 3> dx, unsigned threads = 0);

/// normalize() of one row in place, for an eps that was checked.
void normalize_row(const Normalization& normalization, std::span<float> row);

/// Throws std::invalid_argument as normalize().
void check_normalization(std::string_view where, const Normalization& normalization);

}  // namespace firstlayer
