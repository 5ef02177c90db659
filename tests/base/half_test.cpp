#include "firstlayer/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/sha256.h"

namespace firstlayer {
namespace {

std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }

/// The hash of the floats that all 65,536 patterns stand for.
template <class Half>
std::string hash_of_all() {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    values.push_back(static_cast<float>(half));
  }
  return testing::sha256_hex(std::as_bytes(std::span(values)));
}

// The hashes are of torch.arange(65536, dtype=torch.int32).to(torch.int16).view(dtype).float().
TEST(BFloat16, EveryPatternIsTheFloatOfTorch) {
  EXPECT_EQ(hash_of_all<BFloat16>(), "9207d7eb28680a098c73dbe536d1ff7b94311dc417b9a385e0af6660683e93ca");
}

TEST(Float16, EveryPatternIsTheFloatOfTorch) {
  EXPECT_EQ(hash_of_all<Float16>(), "b636c5716ff84d972782faf02d0194cb8951526bea4cc487082feb47b1860ddf");
}

/// Each positive pattern comes back from its float; between it and the next one the nearer is taken, at the middle the
/// even one, and with the other sign all is the same. The pattern after the largest number is infinity.
template <class Half>
void expect_nearest_even(std::uint16_t infinity) {
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    Half half;
    half.bits = low;
    const auto from = static_cast<float>(half);
    half.bits = high;
    // Infinity stands where the next number would be.
    Half before;
    before.bits = static_cast<std::uint16_t>(bits == 0 ? 0 : bits - 1);
    const double to = high == infinity ? 2.0 * from - static_cast<float>(before) : static_cast<float>(half);
    const auto middle = static_cast<float>((from + to) / 2);  // has one bit more than a half, or two
    const std::uint16_t even = bits % 2 == 0 ? low : high;
    ASSERT_EQ(Half(from).bits, low);
    ASSERT_EQ(Half(middle).bits, even) << middle;
    ASSERT_EQ(Half(std::nextafter(middle, 0.0F)).bits, low) << middle;
    ASSERT_EQ(Half(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, high) << middle;
    ASSERT_EQ(Half(-from).bits, low | 0x8000U);
    ASSERT_EQ(Half(-middle).bits, even | 0x8000U);
  }
}

TEST(BFloat16, RoundsToTheNearestAndTiesToEven) { expect_nearest_even<BFloat16>(0x7f80); }
TEST(Float16, RoundsToTheNearestAndTiesToEven) { expect_nearest_even<Float16>(0x7c00); }

TEST(BFloat16, KeepsInfinityAndNan) {
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(-std::numeric_limits<float>::infinity()).bits, 0xff80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x7f800001U)).bits, 0x7fc0) << "a payload that would be cut off to infinity";
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0xffffffffU)).bits, 0xffff) << "a payload that would carry into the sign";
}

// As torch.Tensor.to(torch.float16) does it.
TEST(Float16, KeepsInfinityAndNan) {
  EXPECT_EQ(Float16(std::numeric_limits<float>::infinity()).bits, 0x7c00);
  EXPECT_EQ(Float16(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
  EXPECT_EQ(Float16(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(Float16(std::bit_cast<float>(0x7f800001U)).bits, 0x7e00);
  EXPECT_EQ(Float16(std::bit_cast<float>(0xffc12345U)).bits, 0xfe09);
  EXPECT_EQ(Float16(std::bit_cast<float>(0x7fabcdefU)).bits, 0x7f5e);
  EXPECT_EQ(word(static_cast<float>(Float16(std::bit_cast<float>(0x7fabcdefU)))), 0x7febc000U);
}

TEST(Half, ConvertsAtCompileTime) {
  static_assert(static_cast<float>(BFloat16(1.5F)) == 1.5F);
  static_assert(static_cast<float>(Float16(-0x1p-24F)) == -0x1p-24F);
  static_assert(sizeof(BFloat16) == 2 && sizeof(Float16) == 2);
}

}  // namespace
}  // namespace firstlayer
