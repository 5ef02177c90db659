#pragma once
// The parameters of a network as a decoder reads them: in float32 where they are, or as a copy whose matrices are in
// bfloat16. Internal to the library.

#include <cstddef>
#include <vector>

#include "firstlayer/base/half.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/train/generate/weight_matrix.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

class DecoderWeights {
 public:
  /// With `bf16` all is copied, and the parameters may go; otherwise they must stay, and stay as they are.
  DecoderWeights(const GptParameters& parameters, bool bf16, unsigned threads);

  const GptLayout& layout() const noexcept { return layout_; }

  /// A norm, a bias, or the position table, in float32.
  const float* numbers(std::size_t tensor) const { return numbers_[tensor]; }

  /// A matrix of a block, the token table or the head.
  WeightMatrix matrix(std::size_t tensor) const;

 private:
  /// What is in bfloat16 if anything is.
  bool is_halved(std::size_t tensor) const;

  GptLayout layout_;
  bool bf16_;
  std::vector<const float*> numbers_;  ///< of each tensor; nullptr where halves_ has it
  Tensor<float, 1> copied_;
  Tensor<BFloat16, 1> halves_;
  std::vector<std::size_t> places_;  ///< of each tensor in copied_ or halves_
};

}  // namespace firstlayer
