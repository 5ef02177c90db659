#include "firstlayer/formats/dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace firstlayer {
namespace {

constexpr std::size_t kHalf = std::size_t{1} << 63;

std::optional<std::uint64_t> bytes_of(Dtype dtype, std::initializer_list<std::size_t> shape) {
  return tensor_bytes(dtype, std::span<const std::size_t>(shape.begin(), shape.size()));
}

TEST(Dtype, NamesAndWidthsAreThoseOfSafetensors) {
  EXPECT_EQ(dtype_name(Dtype::kBool), "BOOL");
  EXPECT_EQ(dtype_name(Dtype::kBF16), "BF16");
  EXPECT_EQ(dtype_name(Dtype::kU64), "U64");
  EXPECT_EQ(dtype_bytes(Dtype::kBool), 1U);
  EXPECT_EQ(dtype_bytes(Dtype::kBF16), 2U);
  EXPECT_EQ(dtype_bytes(Dtype::kF32), 4U);
  EXPECT_EQ(dtype_bytes(Dtype::kU64), 8U);
}

TEST(Dtype, IsFoundByItsExactName) {
  for (int index = 0; index <= static_cast<int>(Dtype::kU64); ++index) {
    auto dtype = static_cast<Dtype>(index);
    EXPECT_EQ(find_dtype(dtype_name(dtype)), dtype) << dtype_name(dtype);
  }
  EXPECT_EQ(find_dtype("f32"), std::nullopt);
  EXPECT_EQ(find_dtype("F32 "), std::nullopt);
  EXPECT_EQ(find_dtype("F8_E4M3"), std::nullopt);
  EXPECT_EQ(find_dtype(""), std::nullopt);
}

TEST(Dtype, FollowsFromTheElementType) {
  EXPECT_EQ(kDtypeOf<bool>, Dtype::kBool);
  EXPECT_EQ(kDtypeOf<std::int16_t>, Dtype::kI16);
  EXPECT_EQ(kDtypeOf<std::uint32_t>, Dtype::kU32);
  EXPECT_EQ(kDtypeOf<float>, Dtype::kF32);
  EXPECT_EQ(kDtypeOf<std::int64_t>, Dtype::kI64);
}

TEST(TensorBytes, IsWidthTimesShape) {
  EXPECT_EQ(bytes_of(Dtype::kF32, {2, 3}), 24U);
  EXPECT_EQ(bytes_of(Dtype::kF64, {}), 8U);
  EXPECT_EQ(bytes_of(Dtype::kU8, {kHalf}), kHalf);
}

TEST(TensorBytes, AnEmptyAxisMakesNoneWhateverTheOthers) {
  EXPECT_EQ(bytes_of(Dtype::kF32, {kHalf, kHalf, 0}), 0U);
  EXPECT_EQ(bytes_of(Dtype::kF32, {0, kHalf, kHalf}), 0U);
}

TEST(TensorBytes, WhatDoesNotFit64BitsIsNothing) {
  EXPECT_EQ(bytes_of(Dtype::kU8, {kHalf, 2}), std::nullopt);
  EXPECT_EQ(bytes_of(Dtype::kI16, {kHalf}), std::nullopt);
  EXPECT_EQ(bytes_of(Dtype::kF32, {std::size_t{1} << 32, std::size_t{1} << 32}), std::nullopt);
}

}  // namespace
}  // namespace firstlayer
