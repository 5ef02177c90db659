#include "firstlayer/lookup/row_norm.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"

namespace firstlayer {

void check_norm_options(std::string_view where, double max_norm, double norm_type) {
  if (!(max_norm >= 0.0)) throw_invalid(where, "max_norm of 0 or more", std::to_string(max_norm));
  if (!(norm_type > 0.0)) throw_invalid(where, "a positive norm_type", std::to_string(norm_type));
}

float row_norm(std::span<const float> row, double p) {
  double sum = 0.0;
  if (p == 2.0) {
    for (const float value : row) sum += static_cast<double>(value) * value;
    return static_cast<float>(std::sqrt(sum));
  }
  if (p == 1.0) {
    for (const float value : row) sum += std::abs(value);
    return static_cast<float>(sum);
  }
  if (std::isinf(p)) {
    float largest = 0.0F;
    for (const float value : row) {
      if (std::isnan(value)) return value;
      largest = std::max(largest, std::abs(value));
    }
    return largest;
  }
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
