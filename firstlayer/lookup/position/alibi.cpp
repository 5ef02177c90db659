#include "firstlayer/lookup/position/alibi.h"

#include <bit>
#include <cmath>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/position/check_scores.h"

namespace firstlayer {
namespace {

/// The slope of head h when n heads share the powers of two evenly.
float slope(std::size_t h, std::size_t n) {
  return static_cast<float>(std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(n)));
}

}  // namespace

std::vector<float> alibi_slopes(std::size_t heads) {
  if (heads == 0) throw_invalid("alibi_slopes", "at least 1 head", "0");
  const std::size_t power = std::bit_floor(heads);
  std::vector<float> slopes;
  slopes.reserve(heads);
  for (std::size_t h = 0; h < power; ++h) slopes.push_back(slope(h, power));
  for (std::size_t h = 0; slopes.size() < heads; h += 2) slopes.push_back(slope(h, 2 * power));
  return slopes;
}

Tensor<float, 3> alibi_bias(std::size_t heads, std::size_t queries, std::size_t keys) {
  check_scores("alibi_bias", heads, queries, keys);
  const std::vector<float> slopes = alibi_slopes(heads);
  Tensor<float, 3> bias({heads, queries, keys});
  const View<float, 3> out = bias.view();
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t q = 0; q < queries; ++q) {
      const auto own = static_cast<float>(keys - queries + q);
      for (std::size_t j = 0; j < keys; ++j) out(h, q, j) = slopes[h] * (static_cast<float>(j) - own);
    }
  }
  return bias;
}

}  // namespace firstlayer
