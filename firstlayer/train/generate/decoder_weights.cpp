#include "firstlayer/train/generate/decoder_weights.h"

#include <algorithm>
#include <span>

#include "firstlayer/base/threads.h"

namespace firstlayer {
namespace {

void round_to_halves(std::span<const float> from, BFloat16* to, unsigned threads) {
  parallel_for(from.size(), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = BFloat16(from[i]);
  });
}

}  // namespace

DecoderWeights::DecoderWeights(const GptParameters& parameters, bool bf16, unsigned threads)
    : layout_(parameters.layout()), bf16_(bf16) {
  const std::size_t count = layout_.tensors().size();
  numbers_.resize(count);
  if (!bf16) {
    for (std::size_t tensor = 0; tensor < count; ++tensor) numbers_[tensor] = parameters[tensor].data();
    return;
  }
  places_.resize(count);
  std::size_t halved = 0;
  std::size_t copied = 0;
  for (std::size_t tensor = 0; tensor < count; ++tensor) {
    std::size_t& taken = is_halved(tensor) ? halved : copied;
    constexpr std::size_t kAlignment = 64 / sizeof(BFloat16);  // of a line of the cache, for both
    places_[tensor] = taken;
    taken += (layout_.tensors()[tensor].size + kAlignment - 1) / kAlignment * kAlignment;
  }
  halves_ = Tensor<BFloat16, 1>({halved});
  copied_ = Tensor<float, 1>({copied});
  for (std::size_t tensor = 0; tensor < count; ++tensor) {
    if (is_halved(tensor)) {
      round_to_halves(parameters[tensor], halves_.flat().data() + places_[tensor], threads);
    } else {
      float* to = copied_.flat().data() + places_[tensor];
      std::ranges::copy(parameters[tensor], to);
      numbers_[tensor] = to;
    }
  }
}

bool DecoderWeights::is_halved(std::size_t tensor) const {
  return bf16_ && layout_.tensors()[tensor].is_matrix && tensor != layout_.position_table();
}

WeightMatrix DecoderWeights::matrix(std::size_t tensor) const {
  const std::vector<std::size_t>& shape = layout_.tensors()[tensor].shape;
  if (!is_halved(tensor)) return {numbers_[tensor], nullptr, shape[0], shape[1]};
  return {nullptr, halves_.flat().data() + places_[tensor], shape[0], shape[1]};
}

}  // namespace firstlayer
