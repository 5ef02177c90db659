#pragma once
// The numbers by which the reference and the kernel compute the logistic function. Internal to the library.

#include <array>

namespace firstlayer::skip_gram {

/// exp(-80) is the smallest power that is taken: what lies beyond moves nothing.
inline constexpr float kLargestMagnitude = 80.0F;

inline constexpr float kLog2E = 1.44269504F;
/// ln 2 in two parts: the first has so few bits that its product with a small integer is exact.
inline constexpr float kLn2High = 0.693359375F;
inline constexpr float kLn2Low = -2.12194440e-4F;

/// exp(-r) for |r| <= ln(2) / 2, by its series: the error is below 2^-27 of it. Highest power first.
inline constexpr std::array<float, 8> kExpSeries = {-1.0F / 5040, 1.0F / 720, -1.0F / 120, 1.0F / 24,
                                                    -1.0F / 6,    1.0F / 2,   -1.0F,       1.0F};

/// log(1 + e) = 2 z (1 + z^2 / 3 + z^4 / 5 + ...) with z = e / (2 + e), which is at most 1/3. Highest power first.
inline constexpr std::array<float, 7> kLogSeries = {2.0F / 13, 2.0F / 11, 2.0F / 9, 2.0F / 7, 2.0F / 5, 2.0F / 3, 2.0F};

}  // namespace firstlayer::skip_gram
