#pragma once
// The output head with its cross-entropy: logits exist tile by tile, never all at once. Internal to the library.

#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/lookup/gradient.h"
#include "firstlayer/train/network/gradient_sink.h"
#include "firstlayer/train/network/panels.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {

/// A row without a target.
inline constexpr std::int64_t kNoTarget = -1;

/// What both passes over the table share. logits = x W^T; the loss of a row is log(sum of exp(logits)) - logit of its
/// target.
struct HeadLoss {
  ConstPanels x;                          ///< (rows, d)
  const float* weight;                    ///< (V, d)
  std::size_t vocabulary;                 ///< V
  std::span<const std::int64_t> targets;  ///< (rows,) kNoTarget: the row has no loss
  float gradient_scale;                   ///< of every row's loss: 1 / the number of targets, for their mean
  float* log_sums;                        ///< (rows,) result: log(sum of exp(logits))
  float* target_logits;                   ///< (rows,) result, 0 without a target
  Panels dx;                              ///< (rows, d) result: gradient of the scaled loss; no data: not wanted
  /// What the fast way keeps from the first pass for the second; unused by the reference.
  float* factors;       ///< (rows,) softmax gradient_scale is this times the exponential
  float* exponentials;  ///< head_exponentials(V, rows) floats; nullptr: the second pass computes them again
  float* scratch;       ///< head_scratch(rows) floats for each thread
  unsigned threads;
};

inline std::size_t head_exponentials(std::size_t vocabulary, std::size_t rows) {
  return (vocabulary + kStripRows - 1) / kStripRows * kStripRows * rows;
}
inline std::size_t head_scratch(std::size_t rows) { return kStripRows * rows; }

/// The loss, and with dx its gradient as for the rows: dx = (softmax - one_hot(target)) scale W.
void head_loss(const HeadLoss& job);
void head_loss_reference(const HeadLoss& job);

/// The table's gradient, after head_loss() with dx: dW = (softmax - one_hot(target))^T scale x, plus `more`, the rows
/// that a tied table gets as the input's, given to the sink.
struct HeadWeightGradient {
  HeadLoss forward;
  float* packed;                   ///< packed_size(rows, d) floats (packed_features.h), unused by the reference
  std::span<std::uint32_t> order;  ///< (rows,) room to sort in, unused by the reference
  const RowGradient* more;         ///< or nullptr
  std::size_t tensor;
  GradientSink* sink;
};
void head_weight_gradient(const HeadWeightGradient& job);
void head_weight_gradient_reference(const HeadWeightGradient& job);

/// logits (count, V), row after row, of the first `count` rows.
struct HeadLogits {
  ConstPanels x;
  const float* weight;  ///< (V, d)
  std::size_t vocabulary;
  std::size_t count;
  float* logits;
  unsigned threads;
};
void head_logits(const HeadLogits& job);
void head_logits_reference(const HeadLogits& job);

}  // namespace firstlayer
