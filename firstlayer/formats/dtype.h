#pragma once
// The element types that tensor files hold.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "firstlayer/base/half.h"

namespace firstlayer {

/// In the order in which safetensors sorts them, narrow to wide.
enum class Dtype : std::uint8_t { kBool, kU8, kI8, kI16, kU16, kF16, kBF16, kI32, kU32, kF32, kF64, kI64, kU64 };

/// Bytes of one element.
std::size_t dtype_bytes(Dtype dtype);

/// safetensors' name: "F32", "I64", …
std::string_view dtype_name(Dtype dtype);

/// The Dtype of that name; nothing if there is none.
std::optional<Dtype> find_dtype(std::string_view name);

/// Bytes of a tensor; nothing if they do not fit 64 bits. A shape without axes is a scalar: one element.
std::optional<std::uint64_t> tensor_bytes(Dtype dtype, std::span<const std::size_t> shape);

/// The Dtype of a C++ element type.
template <class T>
inline constexpr Dtype kDtypeOf = [] {
  static_assert(sizeof(T) == 0, "tensor files have no such element type");
  return Dtype::kU8;
}();
template <>
inline constexpr Dtype kDtypeOf<bool> = Dtype::kBool;
template <>
inline constexpr Dtype kDtypeOf<std::uint8_t> = Dtype::kU8;
template <>
inline constexpr Dtype kDtypeOf<std::int8_t> = Dtype::kI8;
template <>
inline constexpr Dtype kDtypeOf<std::int16_t> = Dtype::kI16;
template <>
inline constexpr Dtype kDtypeOf<std::uint16_t> = Dtype::kU16;
template <>
inline constexpr Dtype kDtypeOf<Float16> = Dtype::kF16;
template <>
inline constexpr Dtype kDtypeOf<BFloat16> = Dtype::kBF16;
template <>
inline constexpr Dtype kDtypeOf<std::int32_t> = Dtype::kI32;
template <>
inline constexpr Dtype kDtypeOf<std::uint32_t> = Dtype::kU32;
template <>
inline constexpr Dtype kDtypeOf<float> = Dtype::kF32;
template <>
inline constexpr Dtype kDtypeOf<double> = Dtype::kF64;
template <>
inline constexpr Dtype kDtypeOf<std::int64_t> = Dtype::kI64;
template <>
inline constexpr Dtype kDtypeOf<std::uint64_t> = Dtype::kU64;

}  // namespace firstlayer
