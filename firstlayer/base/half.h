#pragma once
// Numbers of 16 bits, for tables that should take half the memory. They are for storing: arithmetic is in float.

#include <bit>
#include <cstdint>

namespace firstlayer {

/// bfloat16: the upper half of a float, 8 bits of exponent and 7 of fraction.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;

  /// Rounded to the nearest, ties to even; beyond the largest it is infinity. NaN stays NaN: its sign and upper payload
  /// are kept, and it is quiet.
  constexpr explicit BFloat16(float value) : bits(round(std::bit_cast<std::uint32_t>(value))) {}

  /// Exact.
  constexpr explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

 private:
  static constexpr std::uint16_t round(std::uint32_t word) {
    if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(word >> 16 | 0x0040U);
    // Half of the last kept bit, less one where that bit is even, so that a tie leaves it even.
    return static_cast<std::uint16_t>((word + 0x7fffU + (word >> 16 & 1U)) >> 16);
  }
};

/// IEEE 754 binary16: 5 bits of exponent and 10 of fraction, with subnormals.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;

  /// As BFloat16: to the nearest, ties to even, 65520 and beyond to infinity, NaN stays NaN.
  constexpr explicit Float16(float value) : bits(round(std::bit_cast<std::uint32_t>(value))) {}

  /// Exact. A signalling NaN becomes quiet, as in the processors' own conversion.
  constexpr explicit operator float() const {
    const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
    const std::uint32_t magnitude = std::uint32_t{bits & 0x7fffU} << 13;  // exponent and fraction where float has them
    constexpr std::uint32_t kRebias = (127U - 15U) << 23;
    if (magnitude > kInfinity) return std::bit_cast<float>(sign | 0x7fc00000U | magnitude);
    if (magnitude == kInfinity) return std::bit_cast<float>(sign | 0x7f800000U);
    if (magnitude >= kSmallestNormal) return std::bit_cast<float>(sign | (magnitude + kRebias));
    // A subnormal is what stands behind the point in 2^-14 * 1.fraction; the difference is exact.
    const float value = std::bit_cast<float>(magnitude + kRebias + (1U << 23)) - 0x1p-14F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }

 private:
  static constexpr std::uint32_t kInfinity = 0x7c00U << 13;
  static constexpr std::uint32_t kSmallestNormal = 0x0400U << 13;

  static constexpr std::uint16_t round(std::uint32_t word) {
    const std::uint32_t sign = word >> 16 & 0x8000U;
    const std::uint32_t magnitude = word & 0x7fffffffU;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000U) {
      half = 0x7e00U | (magnitude >> 13 & 0x03ffU);
    } else if (magnitude >= 0x477ff000U) {  // 65520, halfway between the largest and 65536
      half = 0x7c00U;
    } else if (magnitude >= 0x38800000U) {  // 2^-14
      half = (magnitude - ((127U - 15U) << 23) + 0x0fffU + (magnitude >> 13 & 1U)) >> 13;
    } else {
      // Added to 0.5 the last bit of the sum is worth 2^-24, the step of the subnormals, and the addition rounds.
      half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    }
    return static_cast<std::uint16_t>(sign | half);
  }
};

}  // namespace firstlayer
