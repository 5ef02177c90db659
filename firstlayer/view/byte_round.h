#pragma once
// A vector rounded to 8-bit integers. Internal to the library.

#include <cstdint>
#include <span>

namespace firstlayer {

/// bytes[k] = x[k] / scale to the nearest whole number, ties to even, where scale = largest magnitude / limit, and
/// rounded[k] = bytes[k] * scale in float32: what the bytes stand for. Returns the scale. limit is at most 127. A
/// vector whose largest magnitude is below 1e-30 becomes zero, with scale 0. x must be finite; all three have one
/// length.
float round_to_bytes_reference(std::span<const float> x, int limit, std::span<std::int8_t> bytes,
                               std::span<float> rounded);
float round_to_bytes(std::span<const float> x, int limit, std::span<std::int8_t> bytes, std::span<float> rounded);

/// The least magnitude of a vector that is not taken for zero.
inline constexpr float kLeastMagnitude = 1e-30F;

}  // namespace firstlayer
