#pragma once
// All memory that a GptNetwork works in, taken once. Internal to the library.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/position/rotary.h"
#include "firstlayer/lookup/row_groups.h"
#include "firstlayer/train/network/gpt_config.h"
#include "firstlayer/train/network/panels.h"

namespace firstlayer {

/// What the way forward keeps of a block for the way back: pointers to panels of d features, where nothing else is
/// said, and to a number for each row.
struct BlockState {
  float* input;
  float* mean1;
  float* scale1;
  float* qkv;        ///< 3 d features, rotated already
  float* log_sums;   ///< one for each row and head
  float* attention;  ///< what attention gave, before its output matrix
  float* middle;     ///< input + attention
  float* mean2;
  float* scale2;
  float* hidden;  ///< 4 d features, before GELU
};

class GptWorkspace {
 public:
  /// For batches of up to `capacity` places. With `keep_exponentials` there is memory for those of all logits.
  GptWorkspace(const GptConfig& config, std::size_t capacity, unsigned threads, bool keep_exponentials);

  std::size_t capacity() const { return capacity_; }

  std::vector<BlockState> blocks;
  float* last_input;  ///< of the last norm
  float* last_mean;
  float* last_scale;
  float* last;         ///< what the last norm gave
  float* narrow;       ///< d features, for the moment
  float* wide;         ///< 4 d features, for the moment
  float* dwide;        ///< 4 d features: gradients of the hidden units, or of queries, keys and values
  float* dx;           ///< the gradient of the residual stream
  float* rows;         ///< d features, row after row: the input tensor, then its gradient
  const float* zeros;  ///< d of them
  float* packed;       ///< the right operand of a weight's gradient
  float* norm_scratch;
  float* log_sums;  ///< of the logits of each row
  float* target_logits;
  float* factors;
  float* exponentials;    ///< or nullptr
  float* thread_scratch;  ///< for each thread, of attention or the head
  std::vector<std::int64_t> targets;
  std::vector<std::uint32_t> target_order;  ///< as many

  Tensor<float, 2> added_positions;  ///< sinusoids (context, d), or empty
  std::optional<RotaryTable> rotary;
  std::vector<float> slopes;  ///< ALiBi's, or empty
  RowGroups groups;           ///< of the ids of a batch
  RowGradient dtokens;
  Tensor<float, 2> dpositions;  ///< (context, d): rows from T on stay 0

 private:
  std::size_t capacity_;
  Tensor<float, 1> memory_;
};

}  // namespace firstlayer
