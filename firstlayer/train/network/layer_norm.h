#pragma once
// Layer norm over the features of a row, forward and back. Internal to the library.

#include <cstddef>

#include "firstlayer/train/network/gradient_sink.h"
#include "firstlayer/train/network/panels.h"

namespace firstlayer {

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, the variance being the mean square of what is left.
/// Ba, Kiros and Hinton, "Layer Normalization", 2016.
struct LayerNorm {
  ConstPanels x;        ///< (rows, d)
  const float* weight;  ///< (d,)
  const float* bias;    ///< (d,)
  float eps;
  Panels y;      ///< (rows, d)
  float* mean;   ///< (rows,)
  float* scale;  ///< (rows,) 1 / sqrt(variance + eps)
  unsigned threads;
};
void layer_norm(const LayerNorm& job);
void layer_norm_reference(const LayerNorm& job);

/// y again from the mean and scale of layer_norm(): what its caller did not keep.
void layer_norm_again(const LayerNorm& job);
void layer_norm_again_reference(const LayerNorm& job);

/// With h = (x - mean) scale and g = dy weight:
///   dx = scale (g - mean of g - h mean of (g h)),  dweight = sum over rows of dy h,  dbias = sum over rows of dy
struct LayerNormGradient {
  ConstPanels x;
  ConstPanels dy;
  const float* weight;
  const float* mean;
  const float* scale;
  Panels dx;
  bool add;                   ///< dx is added to what is there
  float* scratch;             ///< layer_norm_scratch() floats
  std::size_t weight_tensor;  ///< its bias is the next
  GradientSink* sink;
  unsigned threads;
};
void layer_norm_gradient(const LayerNormGradient& job);
void layer_norm_gradient_reference(const LayerNormGradient& job);

/// Both sums over each panel.
inline std::size_t layer_norm_scratch(std::size_t panels, std::size_t features) { return 2 * panels * features; }

}  // namespace firstlayer
