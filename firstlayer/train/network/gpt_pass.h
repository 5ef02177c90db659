#pragma once
// A batch on its way through GPT-2, forward and back. Internal to the library; gpt_network.h is what users see.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/train/network/gpt_kernels.h"
#include "firstlayer/train/network/gpt_parameters.h"
#include "firstlayer/train/network/gpt_workspace.h"

namespace firstlayer {

/// begin(), perhaps set_targets(), forward(); then logits(), or loss() and perhaps backward().
class GptPass {
 public:
  GptPass(const GptParameters& parameters, GptWorkspace& work, const GptKernels& kernels, unsigned threads);

  const GptConfig& config() const { return parameters_.config(); }

  /// Ids (B, T) that are known to be right; they must stay until the pass is over.
  void begin(View<const TokenId, 2> ids);
  /// (rows,): where the targets go, kNoTarget for rows without.
  std::span<std::int64_t> target_memory() { return {work_.targets.data(), count_ * kPanelRows}; }
  /// `count` rows have a target. The gradient is that of the mean loss times `scale`.
  void set_targets(std::size_t count, double scale);

  void forward();
  void logits(float* out);  ///< (B * T, V)
  double loss(bool with_gradient);
  void backward(GradientSink& sink);

  /// The name of the first parameter, or of the first result of forward(), that is infinite or not a number.
  std::string first_non_finite() const;

 private:
  const float* tensor(std::size_t number) const { return parameters_[number].data(); }
  std::size_t block_tensor(std::size_t layer, BlockTensor which) const { return layout_.block(layer, which); }
  Panels panels(float* data, std::size_t features) const { return {data, count_, features}; }
  /// Where the output of a block goes.
  float* output_of(std::size_t layer) const;

  void embed();
  void forward_block(std::size_t layer);
  void backward_block(std::size_t layer, GradientSink& sink);
  void backward_hidden(std::size_t layer, GradientSink& sink);
  void backward_attention(std::size_t layer, GradientSink& sink);
  void backward_tables(GradientSink& sink);
  /// The gradient of every row of a token table that is not the head's, too.
  void give_token_rows(GradientSink& sink);

  CausalAttention attention_of(std::size_t layer) const;
  LayerNorm norm(const float* x, std::size_t weight, float* mean, float* scale, float* y) const;
  void norm_gradient(const float* x, std::size_t weight, const float* mean, const float* scale, const float* dy,
                     bool add, GradientSink& sink);
  void multiply(const float* x, std::size_t inputs, std::size_t weight, const float* residual, float* y,
                std::size_t outputs);
  void weight_gradient(const float* x, std::size_t inputs, const float* dy, std::size_t outputs, std::size_t weight,
                       GradientSink& sink);
  HeadLoss head(bool with_gradient) const;

  const GptParameters& parameters_;
  const GptLayout& layout_;
  GptWorkspace& work_;
  const GptKernels& kernels_;
  unsigned threads_;
  std::size_t d_;
  View<const TokenId, 2> ids_;
  std::size_t rows_ = 0;   ///< B * T
  std::size_t count_ = 0;  ///< panels
  std::size_t targets_ = 0;
  float gradient_scale_ = 0;
};

}  // namespace firstlayer
