#include "firstlayer/train/generate/gpt_decoder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/position/alibi.h"
#include "firstlayer/lookup/position/rotary.h"
#include "firstlayer/train/checkpoint/gpt_tensors.h"
#include "firstlayer/train/network/deal.h"
#include "firstlayer/train/network/gelu.h"
#include "firstlayer/train/network/layer_norm.h"
#include "firstlayer/train/network/panels.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {
namespace {

/// Steps of a product after which its sums go back to memory, as in linear().
constexpr std::size_t kBlock = 384;

/// One panel of activations, the ids that are new.
Tensor<float, 2> panel_of(std::size_t features) { return Tensor<float, 2>({features, kPanelRows}); }

}  // namespace

class GptDecoder::Work {
 public:
  Work(const GptParameters& parameters, unsigned threads);

  /// Up to a panel of ids.
  void append(std::span<const TokenId> ids);
  void finish();

  const GptParameters& parameters;
  const GptConfig& config;
  std::size_t length = 0;  ///< ids in the cache
  Tensor<float, 1> logits;

 private:
  Panels panel(Tensor<float, 2>& of) const { return {of.flat().data(), 1, of.dim(0)}; }
  const float* tensor(std::size_t number) const { return parameters[number].data(); }

  void embed(std::span<const TokenId> ids);
  void forward_block(std::size_t layer);
  void norm(std::size_t weight, Tensor<float, 2>& x);
  void multiply(Tensor<float, 2>& x, std::size_t weight, const Tensor<float, 2>* residual, Tensor<float, 2>& y);
  void attend(std::size_t layer);
  void remember(std::size_t layer);
  void attend_head(std::size_t layer, std::size_t head);

  /// (h, context) of a head: numbers of one feature lie together, so that scores are sums over features.
  float* keys(std::size_t layer, std::size_t head) {
    return keys_.flat().data() + (layer * config.heads + head) * head_dim_ * config.context;
  }
  /// (context, h) of a head.
  float* values(std::size_t layer, std::size_t head) {
    return values_.flat().data() + (layer * config.heads + head) * head_dim_ * config.context;
  }

  const GptLayout& layout_;
  unsigned threads_;
  std::size_t head_dim_;
  std::size_t count_ = 0;  ///< ids of this call
  Tensor<float, 2> added_positions_;
  std::optional<RotaryTable> rotary_;
  std::vector<float> slopes_;
  Tensor<float, 1> keys_;
  Tensor<float, 1> values_;
  Tensor<float, 2> x_;         ///< the residual stream
  Tensor<float, 2> middle_;    ///< d features
  Tensor<float, 2> qkv_;       ///< 3d
  Tensor<float, 2> hidden_;    ///< 4d
  Tensor<float, 1> rows_;      ///< of any of these, row after row
  Tensor<float, 1> attended_;  ///< (count, d)
  Tensor<float, 2> scores_;    ///< (heads, context)
  std::vector<float> last_;    ///< (d,) of the last id
  alignas(64) float mean_[kPanelRows];
  alignas(64) float scale_[kPanelRows];
};

GptDecoder::Work::Work(const GptParameters& all, unsigned threads)
    : parameters(all),
      config(all.config()),
      logits({config.vocabulary}),
      layout_(all.layout()),
      threads_(threads == 0 ? hardware_threads() : threads),
      head_dim_(config.head_dim()),
      added_positions_(fixed_position_table(config)),
      keys_({config.layers * config.context * config.dim}),
      values_({config.layers * config.context * config.dim}),
      x_(panel_of(config.dim)),
      middle_(panel_of(config.dim)),
      qkv_(panel_of(3 * config.dim)),
      hidden_(panel_of(4 * config.dim)),
      rows_({kPanelRows * 3 * config.dim}),
      attended_({kPanelRows * config.dim}),
      scores_({config.heads, config.context}),
      last_(config.dim) {
  if (config.position == PositionScheme::kRotary) {
    rotary_.emplace(RotaryOptions{.head_dim = head_dim_, .base = config.rotary_base}, config.context);
  }
  if (config.position == PositionScheme::kAlibi) slopes_ = alibi_slopes(config.heads);
}

void GptDecoder::Work::append(std::span<const TokenId> ids) {
  count_ = ids.size();
  embed(ids);
  for (std::size_t layer = 0; layer < config.layers; ++layer) forward_block(layer);
  for (std::size_t i = 0; i < config.dim; ++i) last_[i] = x_.view()(i, count_ - 1);
  length += count_;
}

void GptDecoder::Work::embed(std::span<const TokenId> ids) {
  const float* positions = added_positions_.size() > 0 ? added_positions_.flat().data() : nullptr;
  if (const auto table = layout_.position_table()) positions = tensor(*table);
  for (std::size_t t = 0; t < count_; ++t) {
    const float* token = tensor(layout_.token_table()) + ids[t] * config.dim;
    float* row = rows_.flat().data() + t * config.dim;
    for (std::size_t i = 0; i < config.dim; ++i) {
      row[i] = positions == nullptr ? token[i] : token[i] + positions[(length + t) * config.dim + i];
    }
  }
  rows_to_panels(rows_.flat().data(), count_, panel(x_), 1);
}

void GptDecoder::Work::forward_block(std::size_t layer) {
  const auto weight = [&](BlockTensor which) { return layout_.block(layer, which); };
  norm(weight(BlockTensor::kNorm1Weight), middle_);
  multiply(middle_, weight(BlockTensor::kAttentionWeight), nullptr, qkv_);
  attend(layer);
  multiply(middle_, weight(BlockTensor::kAttentionOutWeight), &x_, x_);
  norm(weight(BlockTensor::kNorm2Weight), middle_);
  multiply(middle_, weight(BlockTensor::kHiddenWeight), nullptr, hidden_);
  gelu({hidden_.flat().data(), hidden_.flat().data(), hidden_.size(), threads_});
  multiply(hidden_, weight(BlockTensor::kOutWeight), &x_, x_);
}

/// middle = norm(x).
void GptDecoder::Work::norm(std::size_t weight, Tensor<float, 2>& middle) {
  layer_norm({panel(x_), tensor(weight), tensor(weight + 1), static_cast<float>(config.norm_eps), panel(middle), mean_,
              scale_, threads_});
}

/// y = x W + b, plus `residual`, which may be y. As linear(), for as few rows as there are.
void GptDecoder::Work::multiply(Tensor<float, 2>& x, std::size_t weight, const Tensor<float, 2>* residual,
                                Tensor<float, 2>& y) {
  const std::size_t K = x.dim(0);
  const std::size_t N = y.dim(0);
  const float* bias = tensor(weight + 1);
  const Strips strips(N);
  deal(strips.count, threads_, [&](std::size_t, std::size_t strip) {
    const std::size_t begin = strips.begin(strip);
    const std::size_t count = strips.size(strip);
    float* out = y.flat().data() + begin * kPanelRows;
    for (std::size_t i = 0; i < count * kPanelRows; ++i) {
      const float before = residual == nullptr ? 0.0F : residual->flat()[begin * kPanelRows + i];
      out[i] = bias[begin + i / kPanelRows] + before;
    }
    for (std::size_t k = 0; k < K; k += kBlock) {
      product({.left = Left::kColumns,
               .a = tensor(weight) + k * N + begin,
               .stride = N,
               .steps = std::min(kBlock, K - k),
               .b = x.flat().data() + k * kPanelRows,
               .c = out,
               .c_stride = kPanelRows,
               .add = true,
               .lanes = count_},
              count);
    }
  });
}

/// middle = attention of the new ids to themselves and all before.
void GptDecoder::Work::attend(std::size_t layer) {
  panels_to_rows(panel(qkv_), count_, rows_.flat().data(), 1);
  remember(layer);
  parallel_for(config.heads, threads_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t head = begin; head < end; ++head) attend_head(layer, head);
  });
  rows_to_panels(attended_.flat().data(), count_, panel(middle_), 1);
}

/// Turns queries and keys to their positions, and puts keys and values into the cache.
void GptDecoder::Work::remember(std::size_t layer) {
  const std::size_t d = config.dim;
  for (std::size_t t = 0; t < count_; ++t) {
    float* row = rows_.flat().data() + t * 3 * d;  // queries, keys, values
    if (rotary_) {
      // A query of all heads, or a key, is a tensor (1, heads, 1, h).
      for (float* each : {row, row + d}) rotary_->rotate({{each, d}, {1, config.heads, 1, head_dim_}}, length + t, 1);
    }
    for (std::size_t i = 0; i < d; ++i) {
      const std::size_t head = i / head_dim_;
      const std::size_t feature = i % head_dim_;
      keys(layer, head)[feature * config.context + length + t] = row[d + i];
      values(layer, head)[(length + t) * head_dim_ + feature] = row[2 * d + i];
    }
  }
}

void GptDecoder::Work::attend_head(std::size_t layer, std::size_t head) {
  const std::size_t d = config.dim;
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_dim_));
  float* scores = scores_.view()[head].data();
  for (std::size_t t = 0; t < count_; ++t) {
    const std::size_t seen = length + t + 1;
    const float* query = rows_.flat().data() + t * 3 * d + head * head_dim_;
    std::fill(scores, scores + seen, 0.0F);
    for (std::size_t c = 0; c < head_dim_; ++c) {
      const float* key = keys(layer, head) + c * config.context;
      for (std::size_t j = 0; j < seen; ++j) scores[j] += query[c] * key[j];
    }
    float largest = -INFINITY;
    for (std::size_t j = 0; j < seen; ++j) {
      scores[j] *= scale;
      if (!slopes_.empty()) scores[j] -= slopes_[head] * static_cast<float>(seen - 1 - j);
      largest = std::max(largest, scores[j]);
    }
    float sum = 0;
    for (std::size_t j = 0; j < seen; ++j) sum += scores[j] = std::exp(scores[j] - largest);
    float* out = attended_.flat().data() + t * d + head * head_dim_;
    std::fill(out, out + head_dim_, 0.0F);
    for (std::size_t j = 0; j < seen; ++j) {
      const float* value = values(layer, head) + j * head_dim_;
      for (std::size_t c = 0; c < head_dim_; ++c) out[c] += scores[j] * value[c];
    }
    for (std::size_t c = 0; c < head_dim_; ++c) out[c] /= sum;
  }
}

/// The logits of the last id.
void GptDecoder::Work::finish() {
  rows_to_panels(last_.data(), 1, panel(x_), 1);
  norm(layout_.last_norm_weight(), middle_);
  const float* table = tensor(layout_.head());
  const Strips strips(config.vocabulary);
  deal(strips.count, threads_, [&](std::size_t, std::size_t strip) {
    alignas(64) float sums[kStripRows * kPanelRows];
    const std::size_t begin = strips.begin(strip);
    product({.left = Left::kRows,
             .a = table + begin * config.dim,
             .stride = config.dim,
             .steps = config.dim,
             .b = middle_.flat().data(),
             .c = sums,
             .c_stride = kPanelRows,
             .add = false,
             .lanes = 1},
            strips.size(strip));
    for (std::size_t i = 0; i < strips.size(strip); ++i) logits.flat()[begin + i] = sums[i * kPanelRows];
  });
}

GptDecoder::GptDecoder(const GptParameters& parameters, unsigned threads)
    : work_(std::make_unique<Work>(parameters, threads)) {}

GptDecoder::~GptDecoder() = default;

const GptConfig& GptDecoder::config() const { return work_->config; }

std::size_t GptDecoder::length() const { return work_->length; }

void GptDecoder::append(std::span<const TokenId> ids) {
  const GptConfig& config = work_->config;
  if (ids.empty()) throw_invalid("GptDecoder::append", "an id", "none");
  if (ids.size() > config.context - work_->length) {
    throw_out_of_range("GptDecoder::append", "at most context = " + std::to_string(config.context) + " ids",
                       std::to_string(ids.size()) + " after " + std::to_string(work_->length));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < config.vocabulary) continue;
    throw_out_of_range("GptDecoder::append", "ids below V = " + std::to_string(config.vocabulary),
                       std::to_string(ids[i]) + " at " + std::to_string(i));
  }
  for (; !ids.empty(); ids = ids.subspan(std::min(ids.size(), kPanelRows))) {
    work_->append(ids.first(std::min(ids.size(), kPanelRows)));
  }
}

std::span<const float> GptDecoder::logits() {
  if (work_->length == 0) throw_invalid("GptDecoder::logits", "ids that were appended", "none");
  work_->finish();
  return work_->logits.flat();
}

void GptDecoder::clear() { work_->length = 0; }

}  // namespace firstlayer
