#pragma once
// How far two runs of numbers are apart. Internal to the library.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace firstlayer {

/// How many values of `a` and `b`, of equal length, differ in a bit.
std::size_t differing_bits(std::span<const float> a, std::span<const float> b);

/// How many are not equal, where 0.0 and -0.0 are.
std::size_t differing_values(std::span<const float> a, std::span<const float> b);

/// The largest |a[i] - b[i]|, in float64; not a number if one difference is none.
template <class T>
double largest_difference(std::span<const T> a, std::span<const T> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace firstlayer
