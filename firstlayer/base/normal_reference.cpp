// The readable definition of the normal transform.

#include <bit>
#include <cmath>
#include <cstdint>

#include "firstlayer/base/normal_kernel.h"

namespace firstlayer::normal_kernel {
namespace {

/// ln x for a normal x in (0, 1].
float natural_log(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  // x = m 2^e with m in [1/2, 1), then in [sqrt(1/2), sqrt(2)).
  float exponent = static_cast<float>(static_cast<int>(bits >> 23) - 126);
  const float m = std::bit_cast<float>((bits & 0x007fffffU) | 0x3f000000U);
  float f = m - 1.0F;
  if (m < kSqrtHalf) {
    exponent -= 1.0F;
    f += m;
  }
  const float square = f * f;
  float y = kLog[0];
  for (std::size_t i = 1; i < std::size(kLog); ++i) y = std::fma(y, f, kLog[i]);
  y = y * f;
  y = std::fma(y, square, exponent * kLn2Low);
  y = std::fma(-square, 0.5F, y);
  return std::fma(exponent, kLn2High, f + y);
}

struct SinCos {
  float sin;
  float cos;
};

/// Sine and cosine of x >= 0.
SinCos sin_cos(float x) {
  // x = octant pi/4 + reduced, with an even octant and |reduced| <= pi/4.
  const std::uint32_t octant = (static_cast<std::uint32_t>(x * kFourOverPi) + 1U) & ~1U;
  const float count = static_cast<float>(octant);
  for (float part : kQuarterPiParts) x = std::fma(count, -part, x);
  const float square = x * x;

  float cosine = std::fma(std::fma(kCos[0], square, kCos[1]), square, kCos[2]);
  cosine = cosine * square;
  cosine = std::fma(cosine, square, -(square * 0.5F));
  cosine = cosine + 1.0F;

  float sine = std::fma(std::fma(kSin[0], square, kSin[1]), square, kSin[2]);
  sine = sine * square;
  sine = std::fma(sine, x, x);

  if ((octant & 2U) != 0) std::swap(sine, cosine);
  const bool negative_sin = (octant & 4U) != 0;
  const bool negative_cos = ((octant - 2U) & 4U) == 0;
  return {negative_sin ? -sine : sine, negative_cos ? -cosine : cosine};
}

}  // namespace

void transform_blocks_reference(std::span<float> values, float mean, float std) {
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    float* block = values.data() + begin;
    for (std::size_t j = 0; j < kBlock / 2; ++j) {
      const float radius = std::sqrt(-2.0F * natural_log(1.0F - block[j]));
      const SinCos angle = sin_cos(kTwoPi * block[j + kBlock / 2]);
      block[j] = std::fma(radius * angle.cos, std, mean);
      block[j + kBlock / 2] = std::fma(radius * angle.sin, std, mean);
    }
  }
}

}  // namespace firstlayer::normal_kernel
