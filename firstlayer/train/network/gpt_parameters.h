#pragma once
// The numbers of a GPT-2, each tensor under the name and in the layout of Hugging Face's GPT2LMHeadModel.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/optimizer/clip.h"
#include "firstlayer/train/network/gpt_config.h"

namespace firstlayer {

/// The tensors of one block, in their order. Matrices are (inputs, outputs): y = x W + b.
enum class BlockTensor : std::size_t {
  kNorm1Weight,         ///< ln_1.weight (d,)
  kNorm1Bias,           ///< ln_1.bias (d,)
  kAttentionWeight,     ///< attn.c_attn.weight (d, 3d): queries, keys, values
  kAttentionBias,       ///< attn.c_attn.bias (3d,)
  kAttentionOutWeight,  ///< attn.c_proj.weight (d, d)
  kAttentionOutBias,    ///< attn.c_proj.bias (d,)
  kNorm2Weight,         ///< ln_2.weight (d,)
  kNorm2Bias,           ///< ln_2.bias (d,)
  kHiddenWeight,        ///< mlp.c_fc.weight (d, 4d)
  kHiddenBias,          ///< mlp.c_fc.bias (4d,)
  kOutWeight,           ///< mlp.c_proj.weight (4d, d)
  kOutBias,             ///< mlp.c_proj.bias (d,)
};
inline constexpr std::size_t kBlockTensors = 12;

struct GptTensor {
  std::string name;  ///< "transformer.h.0.attn.c_attn.weight"
  std::vector<std::size_t> shape;
  std::size_t size;    ///< the product of the shape
  std::size_t offset;  ///< in GptParameters::flat()
  bool is_matrix;      ///< tables too: what decays by weight_decay; norms and biases do not
};

/// Which tensors a network of a configuration has, in order: wte, wpe if positions are learned, the blocks, ln_f, and
/// lm_head if it is not tied.
class GptLayout {
 public:
  /// Throws std::invalid_argument as check_gpt_config().
  explicit GptLayout(const GptConfig& config);

  const GptConfig& config() const noexcept { return config_; }
  std::span<const GptTensor> tensors() const noexcept { return tensors_; }
  std::size_t parameters() const;                       ///< the numbers of all tensors; GPT-2 has 124,439,808
  std::size_t flat_size() const { return flat_size_; }  ///< the same with the gaps between tensors

  /// Numbers of tensors, from 0.
  std::size_t token_table() const { return 0; }       ///< transformer.wte.weight (V, d)
  std::optional<std::size_t> position_table() const;  ///< transformer.wpe.weight (context, d)
  std::size_t block(std::size_t layer, BlockTensor which) const;
  std::size_t last_norm_weight() const;  ///< transformer.ln_f.weight (d,); its bias follows
  std::size_t head() const;              ///< lm_head.weight (V, d), or the token table if tied

  /// The number of the tensor of that name, with or without "transformer." before it.
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  void add(std::string name, std::vector<std::size_t> shape);

  GptConfig config_;
  std::vector<GptTensor> tensors_;
  std::size_t flat_size_ = 0;
};

/// A number for each parameter: the parameters themselves, their gradients, an optimizer's moments. All lie in one
/// block, each tensor at a multiple of 64 bytes; the gaps stay 0.
class GptParameters {
 public:
  /// Zeros. Throws std::invalid_argument as check_gpt_config().
  explicit GptParameters(const GptConfig& config);

  const GptConfig& config() const noexcept { return layout_.config(); }
  const GptLayout& layout() const noexcept { return layout_; }

  /// Tensor number `tensor` of layout().
  std::span<float> operator[](std::size_t tensor);
  std::span<const float> operator[](std::size_t tensor) const;
  /// By name. Throws std::invalid_argument naming what is not there.
  std::span<float> at(std::string_view name);
  std::span<const float> at(std::string_view name) const;
  /// A tensor of two axes.
  View<float, 2> matrix(std::size_t tensor);
  View<const float, 2> matrix(std::size_t tensor) const;

  /// All of them, for clip_gradients() and gradient_norm().
  std::vector<NamedGradient> named();
  std::span<float> flat() { return numbers_.flat(); }
  std::span<const float> flat() const { return numbers_.flat(); }

 private:
  GptLayout layout_;
  Tensor<float, 1> numbers_;
};

/// GPT-2's start, drawn from one Generator in the order of the tensors: matrices N(0, 0.02), the position table
/// N(0, 0.01) as in OpenAI's code (kGpt2Std), the two matrices that end in the residual stream (…c_proj) N(0, 0.02 /
/// sqrt(2 layers)), biases 0, norms 1. The bits are those of the seed on any processor. Throws as GptParameters.
GptParameters random_gpt_parameters(const GptConfig& config, std::uint64_t seed);

}  // namespace firstlayer
