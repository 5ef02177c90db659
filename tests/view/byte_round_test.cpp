#include "firstlayer/view/byte_round.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer {
namespace {

struct Bytes {
  float scale;
  std::vector<std::int8_t> bytes;
  std::vector<float> rounded;
};

template <class Round>
Bytes rounded(const std::vector<float>& x, Round round, int limit = 127) {
  Bytes out{0.0F, std::vector<std::int8_t>(x.size()), std::vector<float>(x.size())};
  out.scale = round(x, limit, out.bytes, out.rounded);
  return out;
}

TEST(ByteRound, TheLargestMagnitudeIs127) {
  const Bytes out = rounded({-254.0F, 127.0F, 3.0F, 5.0F, 0.0F}, round_to_bytes);
  EXPECT_EQ(out.scale, 2.0F);
  EXPECT_EQ(out.bytes, (std::vector<std::int8_t>{-127, 64, 2, 2, 0}));  // ties to even
  EXPECT_EQ(out.rounded, (std::vector<float>{-254, 128, 4, 4, 0}));
}

TEST(ByteRound, OrTheLimitThatIsAskedFor) {
  const Bytes out = rounded({-126.0F, 3.0F}, round_to_bytes, 63);
  EXPECT_EQ(out.scale, 2.0F);
  EXPECT_EQ(out.bytes, (std::vector<std::int8_t>{-63, 2}));
}

TEST(ByteRound, WhatIsTooSmallIsZero) {
  const Bytes out = rounded({0x1p-140F, -1e-31F}, round_to_bytes);
  EXPECT_EQ(out.scale, 0.0F);
  EXPECT_EQ(out.bytes, (std::vector<std::int8_t>{0, 0}));
}

class ByteRound : public testing::OnTarget {};

TEST_P(ByteRound, EqualsTheReferenceForEveryWidthAndSize) {
  Generator generator(1);
  for (std::size_t d = 0; d < 70; ++d) {
    for (const float size : {1e-38F, 1e-29F, 1.0F, 1e37F}) {
      std::vector<float> x(d);
      generator.fill_normal(x);
      for (float& value : x) value *= size;
      const Bytes expected = rounded(x, round_to_bytes_reference);
      const Bytes received = rounded(x, round_to_bytes);
      EXPECT_EQ(received.scale, expected.scale);
      EXPECT_EQ(received.bytes, expected.bytes);
      EXPECT_EQ(testing::difference(expected.rounded, received.rounded), "") << d << " of " << size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, ByteRound, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
