#pragma once
// Floats compared by their bits.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace firstlayer::testing {

/// Empty if the bits are equal, else the first difference.
inline std::string difference(std::span<const float> expected, std::span<const float> received) {
  if (expected.size() != received.size()) {
    return std::to_string(expected.size()) + " floats, " + std::to_string(received.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(expected[i]) != std::bit_cast<std::uint32_t>(received[i])) {
      return "at " + std::to_string(i) + ": " + std::to_string(expected[i]) + ", " + std::to_string(received[i]);
    }
  }
  return "";
}

}  // namespace firstlayer::testing
