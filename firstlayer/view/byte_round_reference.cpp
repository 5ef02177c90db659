#include <algorithm>
#include <cmath>

#include "firstlayer/view/byte_round.h"

namespace firstlayer {

float round_to_bytes_reference(std::span<const float> x, int limit, std::span<std::int8_t> bytes,
                               std::span<float> rounded) {
  float largest = 0.0F;
  for (const float value : x) largest = std::max(largest, std::abs(value));
  const bool zero = largest < kLeastMagnitude;
  const float scale = zero ? 0.0F : largest / static_cast<float>(limit);
  const float inverse = zero ? 0.0F : static_cast<float>(limit) / largest;
  for (std::size_t k = 0; k < x.size(); ++k) {
    bytes[k] = static_cast<std::int8_t>(std::nearbyint(x[k] * inverse));
    rounded[k] = static_cast<float>(bytes[k]) * scale;
  }
  return scale;
}

}  // namespace firstlayer
