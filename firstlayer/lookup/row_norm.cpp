#include "firstlayer/lookup/row_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"

namespace firstlayer {

void check_norm_options(std::string_view where, double max_norm, double norm_type) {
  if (!(max_norm >= 0.0)) throw_invalid(where, "max_norm of 0 or more", std::to_string(max_norm));
  if (!(norm_type > 0.0)) throw_invalid(where, "a positive norm_type", std::to_string(norm_type));
}

namespace {

/// Eight sums side by side, added from left to right, then the rest: four products at once, the last ones fused. It is
/// the order of PyTorch's x86-64 builds, whose compiler cuts the rest so.
float euclidean_norm(std::span<const float> row) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kRestLanes = 4;
  std::array<float, kLanes> sums{};
  std::size_t k = 0;
  for (; k + kLanes <= row.size(); k += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) sums[j] += row[k + j] * row[k + j];
  }
  float sum = sums[0];
  for (std::size_t j = 1; j < kLanes; ++j) sum += sums[j];
  if (k + kRestLanes <= row.size()) {
    for (const float value : row.subspan(k, kRestLanes)) sum += value * value;
    k += kRestLanes;
  }
  for (; k < row.size(); ++k) sum = std::fma(row[k], row[k], sum);
  return std::sqrt(sum);
}

}  // namespace

float row_norm(std::span<const float> row, double p) {
  if (p == 2.0) return euclidean_norm(row);
  if (p == 1.0) {
    float sum = 0.0F;
    for (const float value : row) sum += std::abs(value);
    return sum;
  }
  if (std::isinf(p)) {
    float largest = 0.0F;
    for (const float value : row) {
      if (std::isnan(value)) return value;
      largest = std::max(largest, std::abs(value));
    }
    return largest;
  }
  double sum = 0.0;
  for (const float value : row) sum += std::pow(std::abs(static_cast<double>(value)), p);
  return static_cast<float>(std::pow(sum, 1.0 / p));
}

void limit_row_norms(View<float, 2> table, std::span<const TokenId> ids, double max_norm, double norm_type,
                     unsigned threads) {
  parallel_for(ids.size(), threads, [&](std::size_t begin, std::size_t end) {
    for (const TokenId id : ids.subspan(begin, end - begin)) {
      const std::span<float> row = table[id];
      const float norm = row_norm(row, norm_type);
      if (!(norm > max_norm)) continue;
      const auto scale = static_cast<float>(max_norm / (norm + 1e-7));
      for (float& value : row) value *= scale;
    }
  });
}

}  // namespace firstlayer
