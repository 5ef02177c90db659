#include "firstlayer/train/network/gpt_workspace.h"

#include <algorithm>

#include "firstlayer/lookup/position/alibi.h"
#include "firstlayer/lookup/position/sinusoidal.h"
#include "firstlayer/train/network/causal_attention.h"
#include "firstlayer/train/network/head_loss.h"
#include "firstlayer/train/network/layer_norm.h"
#include "firstlayer/train/network/packed_features.h"

namespace firstlayer {
namespace {

/// Hands out memory from `base` on, or counts what will be handed out if that is nullptr.
class Carver {
 public:
  explicit Carver(float* base) : base_(base) {}

  float* operator()(std::size_t floats) {
    constexpr std::size_t kAlignment = 64 / sizeof(float);
    const std::size_t at = taken_;
    taken_ += (floats + kAlignment - 1) / kAlignment * kAlignment;
    return base_ == nullptr ? nullptr : base_ + at;
  }

  std::size_t taken() const { return taken_; }

 private:
  float* base_;
  std::size_t taken_ = 0;
};

/// Points everything at its place; the floats that it takes.
std::size_t carve(GptWorkspace& work, const GptConfig& config, unsigned threads, bool keep_exponentials, float* base) {
  Carver take(base);
  const std::size_t panels = panels_for(work.capacity());
  const std::size_t rows = panels * kPanelRows;
  const std::size_t d = config.dim;
  work.blocks.resize(config.layers);
  for (BlockState& block : work.blocks) {
    block.input = take(rows * d);
    block.mean1 = take(rows);
    block.scale1 = take(rows);
    block.qkv = take(rows * 3 * d);
    block.log_sums = take(rows * config.heads);
    block.attention = take(rows * d);
    block.middle = take(rows * d);
    block.mean2 = take(rows);
    block.scale2 = take(rows);
    block.hidden = take(rows * 4 * d);
  }
  work.last_input = take(rows * d);
  work.last_mean = take(rows);
  work.last_scale = take(rows);
  work.last = take(rows * d);
  work.narrow = take(rows * d);
  work.wide = take(rows * 4 * d);
  work.dwide = take(rows * 4 * d);
  work.dx = take(rows * d);
  work.rows = take(rows * d);
  work.zeros = take(d);
  work.packed = take(packed_size(rows, 4 * d));
  work.norm_scratch = take(layer_norm_scratch(panels, d));
  work.log_sums = take(rows);
  work.target_logits = take(rows);
  work.factors = take(rows);
  work.exponentials = keep_exponentials ? take(head_exponentials(config.vocabulary, rows)) : nullptr;
  const std::size_t length = std::min(config.context, work.capacity());
  work.thread_scratch =
      take(threads * std::max(causal_attention_scratch(length, config.head_dim()), head_scratch(rows)));
  return take.taken();
}

}  // namespace

GptWorkspace::GptWorkspace(const GptConfig& config, std::size_t capacity, unsigned threads, bool keep_exponentials)
    : capacity_(capacity) {
  memory_ = Tensor<float, 1>({carve(*this, config, threads, keep_exponentials, nullptr)});
  carve(*this, config, threads, keep_exponentials, memory_.flat().data());
  targets.resize(panels_for(capacity) * kPanelRows);
  target_order.resize(targets.size());
  switch (config.position) {
    case PositionScheme::kLearned:
      dpositions = Tensor<float, 2>({config.context, config.dim});
      break;
    case PositionScheme::kSinusoidal:
      added_positions = sinusoidal_table(config.context, config.dim, SinusoidalLayout::kInterleaved);
      break;
    case PositionScheme::kSinusoidalHalf:
      added_positions = sinusoidal_table(config.context, config.dim, SinusoidalLayout::kHalves);
      break;
    case PositionScheme::kRotary:
      rotary.emplace(RotaryOptions{.head_dim = config.head_dim(), .base = config.rotary_base}, config.context);
      break;
    case PositionScheme::kAlibi:
      slopes = alibi_slopes(config.heads);
      break;
    case PositionScheme::kT5:
    case PositionScheme::kNone:
      break;
  }
}

}  // namespace firstlayer
