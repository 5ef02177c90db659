#pragma once
// A layer y = x W + b, forward and back. Internal to the library.

#include <cstddef>

#include "firstlayer/train/network/gradient_sink.h"
#include "firstlayer/train/network/panels.h"

namespace firstlayer {

/// y = x W + b, plus `residual` if there is one. y may be the residual.
struct Linear {
  ConstPanels x;         ///< (rows, K)
  const float* weight;   ///< (K, N)
  const float* bias;     ///< (N,)
  ConstPanels residual;  ///< (rows, N), or no data
  Panels y;              ///< (rows, N)
  unsigned threads;
};
void linear(const Linear& job);
void linear_reference(const Linear& job);

/// dx = dy W^T.
struct LinearInputGradient {
  ConstPanels dy;       ///< (rows, N)
  const float* weight;  ///< (K, N)
  Panels dx;            ///< (rows, K)
  unsigned threads;
};
void linear_input_gradient(const LinearInputGradient& job);
void linear_input_gradient_reference(const LinearInputGradient& job);

/// dW = x^T dy and db = the sum of the rows of dy, given to the sink. Rows that fill up a panel must be 0 in dy.
struct LinearWeightGradient {
  ConstPanels x;   ///< (rows, K)
  ConstPanels dy;  ///< (rows, N)
  std::size_t weight_tensor;
  std::size_t bias_tensor;
  float* scratch;  ///< packed_size(rows, N) floats (packed_features.h)
  GradientSink* sink;
  unsigned threads;
};
void linear_weight_gradient(const LinearWeightGradient& job);
void linear_weight_gradient_reference(const LinearWeightGradient& job);

}  // namespace firstlayer
