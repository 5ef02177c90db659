#pragma once
// Gradients scaled down together when they are long: clipping by the global norm.

#include <span>
#include <string_view>

namespace firstlayer {

/// The numbers of one gradient, which somebody else owns: RowGradient::rows().flat(), or any tensor's.
struct NamedGradient {
  std::string_view name;  ///< for errors: "wte"
  std::span<float> numbers;
};

/// The square root of the sum of the squares of all numbers, in double. The order of the sum depends on the sizes
/// alone, so the bits are the same for any `threads` (0: all). Infinite or NaN if a number is.
double gradient_norm(std::span<const NamedGradient> gradients, unsigned threads = 0);

/// What clipping does to gradients.
struct GradientClip {
  double norm;   ///< that they have
  float factor;  ///< that they are to be multiplied by: max_norm / (norm + 1e-6), or 1 if that is above 1
};

/// torch.nn.utils.clip_grad_norm_(error_if_nonfinite=True) without the multiplication, for an optimizer that multiplies
/// as it goes, such as GptAdamW. PyTorch computes norm and factor in float32: they agree to 1e-5 of their value. Rows
/// without a gradient add nothing to a norm, so a RowGradient stands for the dense one. Throws std::invalid_argument
/// for a gradient that is not finite, naming it, and for a max_norm that is negative or NaN.
GradientClip gradient_clip(std::span<const NamedGradient> gradients, double max_norm, unsigned threads = 0);

/// Multiplies all numbers by the factor of gradient_clip(), and gives the norm that they had. What gradient_clip()
/// throws comes before anything changes.
double clip_gradients(std::span<const NamedGradient> gradients, double max_norm, unsigned threads = 0);

}  // namespace firstlayer
