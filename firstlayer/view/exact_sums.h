#pragma once
// The sums behind every score: floats multiplied and added in float64, in one order on every processor. Internal to
// the library; the bits are what "the same neighbours everywhere" rests on.

#include <array>
#include <cstddef>
#include <span>

namespace firstlayer::exact_sums {

/// Term k is added to sum k % kLanes in ascending order; then lane j takes lane j + 8, j + 4, j + 2 and j + 1.
inline constexpr std::size_t kLanes = 16;

inline double fold(std::array<double, kLanes> sums) {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

/// The sum of x[k] * y[k]. A product of two floats is exact in float64, so a fused step gives the same bits. `y` is as
/// long as `x`, here and below.
double dot_reference(std::span<const float> x, std::span<const float> y);
double dot(std::span<const float> x, std::span<const float> y);

/// The sum of (x[k] - y[k])^2, each step rounded.
double squared_distance_reference(std::span<const float> x, std::span<const float> y);
double squared_distance(std::span<const float> x, std::span<const float> y);

}  // namespace firstlayer::exact_sums
