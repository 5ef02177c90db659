#include "firstlayer/train/network/gpt_pass.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/row_kernels.h"
#include "firstlayer/train/network/rotary_panels.h"

namespace firstlayer {
namespace {

bool is_finite(std::span<const float> numbers) {
  return std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
}

}  // namespace

GptPass::GptPass(const GptParameters& parameters, GptWorkspace& work, const GptKernels& kernels, unsigned threads)
    : parameters_(parameters),
      layout_(parameters.layout()),
      work_(work),
      kernels_(kernels),
      threads_(threads),
      d_(parameters.config().dim) {}

void GptPass::begin(View<const TokenId, 2> ids) {
  ids_ = ids;
  rows_ = ids.size();
  count_ = panels_for(rows_);
}

void GptPass::set_targets(std::size_t count, double scale) {
  targets_ = count;
  gradient_scale_ = static_cast<float>(scale / static_cast<double>(count));
}

// ---- forward

void GptPass::forward() {
  embed();
  for (std::size_t layer = 0; layer < config().layers; ++layer) forward_block(layer);
  kernels_.layer_norm(
      norm(work_.last_input, layout_.last_norm_weight(), work_.last_mean, work_.last_scale, work_.last));
}

float* GptPass::output_of(std::size_t layer) const {
  return layer + 1 < config().layers ? work_.blocks[layer + 1].input : work_.last_input;
}

void GptPass::embed() {
  const float* positions = nullptr;
  if (const auto table = layout_.position_table()) positions = tensor(*table);
  if (work_.added_positions.size() > 0) positions = work_.added_positions.flat().data();
  const Shape<3> shape = {ids_.dim(0), ids_.dim(1), d_};
  row_kernels::run({parameters_.matrix(layout_.token_table()), positions, ids_, {{work_.rows, rows_ * d_}, shape}},
                   threads_);
  float* input = config().layers > 0 ? work_.blocks[0].input : work_.last_input;
  rows_to_panels(work_.rows, rows_, panels(input, d_), threads_);
}

void GptPass::forward_block(std::size_t layer) {
  const BlockState& at = work_.blocks[layer];
  const auto weight = [&](BlockTensor which) { return block_tensor(layer, which); };

  kernels_.layer_norm(norm(at.input, weight(BlockTensor::kNorm1Weight), at.mean1, at.scale1, work_.narrow));
  multiply(work_.narrow, d_, weight(BlockTensor::kAttentionWeight), nullptr, at.qkv, 3 * d_);
  if (work_.rotary) rotate_queries_and_keys(*work_.rotary, ids_.dim(1), panels(at.qkv, 3 * d_), threads_);
  kernels_.causal_attention(attention_of(layer));
  multiply(at.attention, d_, weight(BlockTensor::kAttentionOutWeight), at.input, at.middle, d_);

  kernels_.layer_norm(norm(at.middle, weight(BlockTensor::kNorm2Weight), at.mean2, at.scale2, work_.narrow));
  multiply(work_.narrow, d_, weight(BlockTensor::kHiddenWeight), nullptr, at.hidden, 4 * d_);
  kernels_.gelu({at.hidden, work_.wide, panels(at.hidden, 4 * d_).size(), threads_});
  multiply(work_.wide, 4 * d_, weight(BlockTensor::kOutWeight), at.middle, output_of(layer), d_);
}

CausalAttention GptPass::attention_of(std::size_t layer) const {
  const BlockState& at = work_.blocks[layer];
  return {panels(at.qkv, 3 * d_),
          ids_.dim(0),
          ids_.dim(1),
          config().heads,
          work_.slopes.empty() ? nullptr : work_.slopes.data(),
          panels(at.attention, d_),
          at.log_sums,
          work_.thread_scratch,
          threads_};
}

LayerNorm GptPass::norm(const float* x, std::size_t weight, float* mean, float* scale, float* y) const {
  return {
      {x, count_, d_}, tensor(weight), tensor(weight + 1), static_cast<float>(config().norm_eps), panels(y, d_), mean,
      scale,           threads_};
}

void GptPass::multiply(const float* x, std::size_t inputs, std::size_t weight, const float* residual, float* y,
                       std::size_t outputs) {
  kernels_.linear({{x, count_, inputs},
                   tensor(weight),
                   tensor(weight + 1),
                   {residual, count_, outputs},
                   panels(y, outputs),
                   threads_});
}

// ---- head

HeadLoss GptPass::head(bool with_gradient) const {
  return {{work_.last, count_, d_},
          tensor(layout_.head()),
          config().vocabulary,
          {work_.targets.data(), count_ * kPanelRows},
          gradient_scale_,
          work_.log_sums,
          work_.target_logits,
          with_gradient ? panels(work_.dx, d_) : Panels{},
          work_.factors,
          work_.exponentials,
          work_.thread_scratch,
          threads_};
}

double GptPass::loss(bool with_gradient) {
  kernels_.head_loss(head(with_gradient));
  double sum = 0;
  for (std::size_t r = 0; r < rows_; ++r) {
    if (work_.targets[r] == kNoTarget) continue;
    sum += static_cast<double>(work_.log_sums[r]) - static_cast<double>(work_.target_logits[r]);
  }
  return sum / static_cast<double>(targets_);
}

void GptPass::logits(float* out) {
  kernels_.head_logits({{work_.last, count_, d_}, tensor(layout_.head()), config().vocabulary, rows_, out, threads_});
}

// ---- backward: a weight is given to the sink after all that reads it, for the sink may move it

void GptPass::backward(GradientSink& sink) {
  // The head has left the gradient of what the last norm gave in dx.
  norm_gradient(work_.last_input, layout_.last_norm_weight(), work_.last_mean, work_.last_scale, work_.dx, false, sink);
  for (std::size_t layer = config().layers; layer-- > 0;) backward_block(layer, sink);
  backward_tables(sink);
}

void GptPass::backward_block(std::size_t layer, GradientSink& sink) {
  backward_hidden(layer, sink);
  backward_attention(layer, sink);
}

void GptPass::backward_hidden(std::size_t layer, GradientSink& sink) {
  const BlockState& at = work_.blocks[layer];
  const std::size_t out = block_tensor(layer, BlockTensor::kOutWeight);
  const std::size_t hidden = block_tensor(layer, BlockTensor::kHiddenWeight);
  const std::size_t norm2 = block_tensor(layer, BlockTensor::kNorm2Weight);

  const Panels dhidden = panels(work_.dwide, 4 * d_);
  kernels_.linear_input_gradient({panels(work_.dx, d_), tensor(out), dhidden, threads_});
  kernels_.gelu_gradient({at.hidden, dhidden.data, dhidden.data, work_.wide, dhidden.size(), threads_});
  weight_gradient(work_.wide, 4 * d_, work_.dx, d_, out, sink);

  kernels_.linear_input_gradient({dhidden, tensor(hidden), panels(work_.narrow, d_), threads_});
  kernels_.layer_norm_again(norm(at.middle, norm2, at.mean2, at.scale2, work_.wide));
  weight_gradient(work_.wide, d_, work_.dwide, 4 * d_, hidden, sink);
  norm_gradient(at.middle, norm2, at.mean2, at.scale2, work_.narrow, true, sink);
}

void GptPass::backward_attention(std::size_t layer, GradientSink& sink) {
  const BlockState& at = work_.blocks[layer];
  const std::size_t out = block_tensor(layer, BlockTensor::kAttentionOutWeight);
  const std::size_t qkv = block_tensor(layer, BlockTensor::kAttentionWeight);
  const std::size_t norm1 = block_tensor(layer, BlockTensor::kNorm1Weight);

  kernels_.linear_input_gradient({panels(work_.dx, d_), tensor(out), panels(work_.narrow, d_), threads_});
  weight_gradient(at.attention, d_, work_.dx, d_, out, sink);

  const Panels dqkv = panels(work_.dwide, 3 * d_);
  kernels_.causal_attention_gradient({attention_of(layer), panels(work_.narrow, d_), dqkv});
  if (work_.rotary) rotate_gradient_back(*work_.rotary, ids_.dim(1), dqkv, threads_);

  kernels_.linear_input_gradient({dqkv, tensor(qkv), panels(work_.narrow, d_), threads_});
  kernels_.layer_norm_again(norm(at.input, norm1, at.mean1, at.scale1, work_.wide));
  weight_gradient(work_.wide, d_, work_.dwide, 3 * d_, qkv, sink);
  norm_gradient(at.input, norm1, at.mean1, at.scale1, work_.narrow, true, sink);
}

void GptPass::norm_gradient(const float* x, std::size_t weight, const float* mean, const float* scale, const float* dy,
                            bool add, GradientSink& sink) {
  kernels_.layer_norm_gradient({{x, count_, d_},
                                {dy, count_, d_},
                                tensor(weight),
                                mean,
                                scale,
                                panels(work_.dx, d_),
                                add,
                                work_.norm_scratch,
                                weight,
                                &sink,
                                threads_});
}

void GptPass::weight_gradient(const float* x, std::size_t inputs, const float* dy, std::size_t outputs,
                              std::size_t weight, GradientSink& sink) {
  kernels_.linear_weight_gradient(
      {{x, count_, inputs}, {dy, count_, outputs}, weight, weight + 1, work_.packed, &sink, threads_});
}

void GptPass::backward_tables(GradientSink& sink) {
  panels_to_rows({work_.dx, count_, d_}, rows_, work_.rows, threads_);
  const std::size_t T = ids_.dim(1);
  const View<const float, 3> dinput({work_.rows, rows_ * d_}, {ids_.dim(0), T, d_});
  work_.groups.assign(ids_, config().vocabulary);
  lookup_gradient(work_.groups, dinput, work_.dtokens, threads_);
  if (const auto table = layout_.position_table()) {
    const std::span<float> all = work_.dpositions.flat();
    position_gradient(dinput, {all.first(T * d_), {T, d_}}, threads_);
    std::ranges::fill(all.subspan(T * d_), 0.0F);
    sink.take(*table, 0, all);
  }
  const RowGradient* more = config().tied ? &work_.dtokens : nullptr;
  kernels_.head_weight_gradient(
      {head(true), work_.packed, {work_.target_order.data(), count_ * kPanelRows}, more, layout_.head(), &sink});
  if (!config().tied) give_token_rows(sink);
}

void GptPass::give_token_rows(GradientSink& sink) {
  const std::span<const TokenId> ids = work_.dtokens.ids();
  parallel_for(config().vocabulary, threads_, [&](std::size_t begin, std::size_t end) {
    std::size_t next = static_cast<std::size_t>(std::ranges::lower_bound(ids, begin) - ids.begin());
    for (std::size_t v = begin; v < end; ++v) {
      const bool used = next < ids.size() && ids[next] == v;
      sink.take(layout_.token_table(), v * d_,
                used ? std::as_const(work_.dtokens).rows()[next] : std::span<const float>(work_.zeros, d_));
      if (used) ++next;
    }
  });
}

// ---- what went wrong

std::string GptPass::first_non_finite() const {
  for (std::size_t i = 0; i < layout_.tensors().size(); ++i) {
    if (!is_finite(parameters_[i])) return layout_.tensors()[i].name;
  }
  const auto finite = [&](const float* x, std::size_t features) {
    return is_finite({x, panels(nullptr, features).size()});
  };
  for (std::size_t layer = 0; layer < config().layers; ++layer) {
    const BlockState& at = work_.blocks[layer];
    const std::string name = "the output of transformer.h." + std::to_string(layer);
    if (!finite(at.input, d_)) return "the input of transformer.h." + std::to_string(layer);
    if (!finite(at.middle, d_)) return name + ".attn";
    if (!finite(output_of(layer), d_)) return name + ".mlp";
  }
  if (!finite(work_.last, d_)) return "the output of transformer.ln_f";
  return "the logits";
}

}  // namespace firstlayer
