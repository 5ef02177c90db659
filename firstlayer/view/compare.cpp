#include "firstlayer/view/compare.h"

#include <bit>
#include <cstdint>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {

void check_lengths(std::size_t a, std::size_t b) {
  if (a != b) {
    throw_invalid("explain", "operations that return equally many numbers for one shape",
                  std::to_string(a) + " and " + std::to_string(b));
  }
}

std::size_t differing_bits(std::span<const float> a, std::span<const float> b) {
  check_lengths(a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    count += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1 : 0;
  }
  return count;
}

std::size_t differing_values(std::span<const float> a, std::span<const float> b) {
  check_lengths(a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
  return count;
}

}  // namespace firstlayer
