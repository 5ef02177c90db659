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
#include "firstlayer/train/generate/decoder_weights.h"
#include "firstlayer/train/generate/weight_matrix.h"
#include "firstlayer/train/network/deal.h"
#include "firstlayer/train/network/gelu.h"
#include "firstlayer/train/network/layer_norm.h"
#include "firstlayer/train/network/panels.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {
namespace {

/// Steps of a product after which its sums go back to memory, as in linear().
constexpr std::size_t kBlock = 384;

/// Columns of a product with one vector that a thread takes at least.
constexpr std::size_t kColumns = 64;

/// One panel of activations, the ids that are new.
Tensor<float, 2> panel_of(std::size_t features) { return Tensor<float, 2>({features, kPanelRows}); }

}  // namespace

class GptDecoder::Work {
 public:
  Work(const GptParameters& parameters, const GptDecoderOptions& options);

  /// Up to a panel of ids.
  void append(std::span<const TokenId> ids);
  void finish();

  const DecoderWeights weights;
  const GptConfig& config;
  std::size_t length = 0;  ///< ids in the cache
  Tensor<float, 1> logits;

 private:
  Panels panel(Tensor<float, 2>& of) const { return {of.flat().data(), 1, of.dim(0)}; }

  void embed(std::span<const TokenId> ids);
  void forward_block(std::size_t layer);
  void norm(std::size_t weight, Tensor<float, 2>& x);
  void multiply(Tensor<float, 2>& x, std::size_t weight, const Tensor<float, 2>* residual, Tensor<float, 2>& y);
  void multiply_strip(std::size_t strip, const Tensor<float, 2>& x, std::size_t weight, Tensor<float, 2>& y);
  void multiply_one(Tensor<float, 2>& x, std::size_t weight, const Tensor<float, 2>* residual, Tensor<float, 2>& y);
  /// Lane 0 of a panel, the numbers of one id, into one_.
  void gather_one(const Tensor<float, 2>& x);
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
  Tensor<float, 1> one_;       ///< of one id, up to 4d features
  Tensor<float, 1> product_;   ///< as many: of a matrix with it
  std::vector<float> last_;    ///< (d,) of the last id
  alignas(64) float mean_[kPanelRows];
  alignas(64) float scale_[kPanelRows];
};

GptDecoder::Work::Work(const GptParameters& parameters, const GptDecoderOptions& options)
    : weights(parameters, options.bf16, options.threads),
      config(weights.layout().config()),
      logits({config.vocabulary}),
      layout_(weights.layout()),
      threads_(options.threads == 0 ? hardware_threads() : options.threads),
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
      one_({4 * config.dim}),
      product_({4 * config.dim}),
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
  if (const auto table = layout_.position_table()) positions = weights.numbers(*table);
  const WeightMatrix tokens = weights.matrix(layout_.token_table());
  for (std::size_t t = 0; t < count_; ++t) {
    float* row = rows_.flat().data() + t * config.dim;
    copy_block(tokens, {ids[t], 1, 0, config.dim, row, config.dim});
    if (positions == nullptr) continue;
    for (std::size_t i = 0; i < config.dim; ++i) row[i] += positions[(length + t) * config.dim + i];
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
  layer_norm({panel(x_), weights.numbers(weight), weights.numbers(weight + 1), static_cast<float>(config.norm_eps),
              panel(middle), mean_, scale_, threads_});
}

/// y = x W + b, plus `residual`, which may be y. As linear(), for as few rows as there are.
void GptDecoder::Work::multiply(Tensor<float, 2>& x, std::size_t weight, const Tensor<float, 2>* residual,
                                Tensor<float, 2>& y) {
  if (count_ == 1) return multiply_one(x, weight, residual, y);
  const float* bias = weights.numbers(weight + 1);
  const Strips strips(y.dim(0));
  deal(strips.count, threads_, [&](std::size_t, std::size_t strip) {
    const std::size_t begin = strips.begin(strip);
    float* out = y.flat().data() + begin * kPanelRows;
    for (std::size_t i = 0; i < strips.size(strip) * kPanelRows; ++i) {
      const float before = residual == nullptr ? 0.0F : residual->flat()[begin * kPanelRows + i];
      out[i] = bias[begin + i / kPanelRows] + before;
    }
    multiply_strip(strip, x, weight, y);
  });
}

/// Adds x W to a strip of y.
void GptDecoder::Work::multiply_strip(std::size_t strip, const Tensor<float, 2>& x, std::size_t weight,
                                      Tensor<float, 2>& y) {
  const WeightMatrix matrix = weights.matrix(weight);
  const Strips strips(matrix.columns);
  const std::size_t begin = strips.begin(strip);
  const std::size_t count = strips.size(strip);
  float copied[kBlock * kStripRows];
  for (std::size_t k = 0; k < matrix.rows; k += kBlock) {
    const std::size_t steps = std::min(kBlock, matrix.rows - k);
    copy_block(matrix, {k, steps, begin, count, copied, kStripRows});
    product({.left = Left::kColumns,
             .a = copied,
             .stride = kStripRows,
             .steps = steps,
             .b = x.flat().data() + k * kPanelRows,
             .c = y.flat().data() + begin * kPanelRows,
             .c_stride = kPanelRows,
             .add = true,
             .lanes = count_},
            count);
  }
}

/// multiply() for one id: reading the matrix row after row is all the work.
void GptDecoder::Work::multiply_one(Tensor<float, 2>& x, std::size_t weight, const Tensor<float, 2>* residual,
                                    Tensor<float, 2>& y) {
  const WeightMatrix matrix = weights.matrix(weight);
  const float* bias = weights.numbers(weight + 1);
  gather_one(x);
  float* sums = product_.flat().data();
  parallel_for((matrix.columns + kColumns - 1) / kColumns, threads_, [&](std::size_t first, std::size_t last) {
    const std::size_t begin = first * kColumns;
    const std::size_t end = std::min(last * kColumns, matrix.columns);
    for (std::size_t n = begin; n < end; ++n) {
      sums[n] = residual == nullptr ? bias[n] : bias[n] + residual->view()(n, 0);
    }
    add_row_products(matrix, one_.flat().data(), begin, end, sums);
    for (std::size_t n = begin; n < end; ++n) y.view()(n, 0) = sums[n];
  });
}

void GptDecoder::Work::gather_one(const Tensor<float, 2>& x) {
  for (std::size_t k = 0; k < x.dim(0); ++k) one_.flat()[k] = x.view()(k, 0);
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
  gather_one(middle_);
  const WeightMatrix table = weights.matrix(layout_.head());
  parallel_for(table.rows, threads_, [&](std::size_t begin, std::size_t end) {
    row_dots(table, one_.flat().data(), begin, end, logits.flat().data());
  });
}

GptDecoder::GptDecoder(const GptParameters& parameters, const GptDecoderOptions& options)
    : work_(std::make_unique<Work>(parameters, options)) {}

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
