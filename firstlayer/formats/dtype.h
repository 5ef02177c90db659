#pragma once
// The element types that tensor files hold.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace firstlayer {

enum class Dtype : std::uint8_t { kBool, kU8, kI8, kI16, kU16, kF16, kBF16, kI32, kU32, kF32, kF64, kI64, kU64 };

/// Bytes of one element.
std::size_t dtype_bytes(Dtype dtype);

/// safetensors' name: "F32", "I64", …
std::string_view dtype_name(Dtype dtype);

/// The Dtype of a C++ element type.
template <class T>
inline constexpr Dtype kDtypeOf = Dtype::kBool;
template <>
inline constexpr Dtype kDtypeOf<std::uint8_t> = Dtype::kU8;
template <>
inline constexpr Dtype kDtypeOf<std::int32_t> = Dtype::kI32;
template <>
inline constexpr Dtype kDtypeOf<std::uint32_t> = Dtype::kU32;
template <>
inline constexpr Dtype kDtypeOf<std::int64_t> = Dtype::kI64;
template <>
inline constexpr Dtype kDtypeOf<float> = Dtype::kF32;
template <>
inline constexpr Dtype kDtypeOf<double> = Dtype::kF64;

}  // namespace firstlayer
