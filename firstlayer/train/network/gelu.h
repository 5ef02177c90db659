#pragma once
// The hidden units' activation, forward and back. Internal to the library.

#include <cstddef>

namespace firstlayer {

/// y = x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016;
/// "gelu_new" of GPT-2.
struct Gelu {
  const float* x;
  float* y;           ///< may be x
  std::size_t count;  ///< whole panels
  unsigned threads;
};
void gelu(const Gelu& job);
void gelu_reference(const Gelu& job);

/// dx = dy gelu'(x), where dx may be dy; and y = gelu(x) once more, which the forward pass does not keep.
struct GeluGradient {
  const float* x;
  const float* dy;
  float* dx;
  float* y;
  std::size_t count;
  unsigned threads;
};
void gelu_gradient(const GeluGradient& job);
void gelu_gradient_reference(const GeluGradient& job);

}  // namespace firstlayer
