#include "firstlayer/view/compare.h"

#include <bit>
#include <cstdint>

namespace firstlayer {

std::size_t differing_bits(std::span<const float> a, std::span<const float> b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    count += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1 : 0;
  }
  return count;
}

std::size_t differing_values(std::span<const float> a, std::span<const float> b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
  return count;
}

}  // namespace firstlayer
