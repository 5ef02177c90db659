#include "firstlayer/lookup/input_gradient.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>

#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/check_input.h"
#include "firstlayer/lookup/check_lookup.h"

namespace firstlayer {
namespace {

constexpr std::string_view kWhere = "InputGradient";

/// Room for a tensor in memory that only grows.
View<float, 3> room(Tensor<float, 1>& memory, const Shape<3>& shape) {
  const std::size_t count = element_count(shape);
  if (memory.size() < count) memory = Tensor<float, 1>({count});
  return {memory.flat().first(count), shape};
}

/// out = in * scale; `out` is `in` or does not overlap it.
void multiply(std::span<const float> in, float scale, std::span<float> out, unsigned threads) {
  constexpr std::size_t kPart = 1 << 14;  // numbers that are worth a visit of another thread
  parallel_for((in.size() + kPart - 1) / kPart, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kPart; i < std::min(in.size(), end * kPart); ++i) out[i] = in[i] * scale;
  });
}

}  // namespace

void InputGradient::assign(const InputEmbedding& layer, IdView ids, View<const float, 3> dout,
                           const InputOptions& options, unsigned threads) {
  const EmbeddingSizes& sizes = layer.sizes();
  check_dout(kWhere, ids.shape(), sizes.dim, dout);
  check_input_options(kWhere, options, sizes, ids.shape());
  const CheckedIds checked(kWhere, layer.token_table().shape(), ids);
  if (options.positions) {
    position_groups_.assign(
        CheckedIds(kWhere, layer.position_table().shape(), *options.positions, kPositionsBelow).view(), sizes.context);
  }

  View<const float, 3> dsum = dout;
  if (options.dropout != nullptr) {
    const View<float, 3> dropped = room(dsum_, dout.shape());
    options.dropout->apply(dsum.flat(), dropped.flat(), threads);
    dsum = dropped;
  }
  if (options.normalization) {
    const View<float, 3> sum = room(sum_, dout.shape());
    layer.forward(ids, sum, {.positions = options.positions, .offset = options.offset, .scale = options.scale},
                  threads);
    const View<float, 3> dnormal = room(dsum_, dout.shape());
    normalize_gradient(*options.normalization, sum, dsum, dnormal, threads);
    dsum = dnormal;
  }
  sum_positions(layer, dsum, options, threads);
  if (options.scale != 1.0F) {
    const View<float, 3> scaled = room(dsum_, dout.shape());
    multiply(dsum.flat(), options.scale, scaled.flat(), threads);
    dsum = scaled;
  }
  token_groups_.assign(checked.view(), sizes.vocabulary);
  lookup_gradient(token_groups_, dsum, tokens_, threads);
}

void InputGradient::sum_positions(const InputEmbedding& layer, View<const float, 3> dsum, const InputOptions& options,
                                  unsigned threads) {
  counted_.clear();
  if (options.positions) {
    lookup_gradient(position_groups_, dsum, positions_, threads);
    return;
  }
  if (layer.has_positions()) {
    counted_.resize(dsum.dim(1));
    std::iota(counted_.begin(), counted_.end(), static_cast<TokenId>(options.offset));
  }
  positions_.assign(counted_, layer.sizes().dim);
  if (layer.has_positions()) position_gradient(dsum, positions_.rows(), threads);
}

}  // namespace firstlayer
