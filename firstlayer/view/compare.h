#pragma once
// How far two runs of numbers are apart. Internal to the library.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace firstlayer {

/// Throws std::invalid_argument unless there are as many numbers on one side as on the other.
void check_lengths(std::size_t a, std::size_t b);

/// How many values of `a` and `b` differ in a bit. Throws as check_lengths(), like the next two.
std::size_t differing_bits(std::span<const float> a, std::span<const float> b);

/// How many are not equal, where 0.0 and -0.0 are.
std::size_t differing_values(std::span<const float> a, std::span<const float> b);

/// The largest |a[i] - b[i]|, in float64; not a number if one difference is none.
template <class T>
double largest_difference(std::span<const T> a, std::span<const T> b) {
  check_lengths(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace firstlayer
