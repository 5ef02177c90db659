#include "firstlayer/lookup/position/alibi.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/lookup/position/golden.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::golden;
using testing::message_of;

TEST(AlibiSlopes, HalveFromHeadToHeadOfEight) {
  EXPECT_EQ(alibi_slopes(8),
            (std::vector<float>{0x1p-1F, 0x1p-2F, 0x1p-3F, 0x1p-4F, 0x1p-5F, 0x1p-6F, 0x1p-7F, 0x1p-8F}));
  EXPECT_EQ(alibi_slopes(1), std::vector<float>{0x1p-8F});
}

TEST(AlibiSlopes, TakeEverySecondOfTwiceAsManyHeadsWhereTheyAreNoPowerOfTwo) {
  const std::vector<float> six = alibi_slopes(6);
  const std::vector<float> four = alibi_slopes(4);
  const std::vector<float> eight = alibi_slopes(8);
  EXPECT_EQ(six, (std::vector<float>{four[0], four[1], four[2], four[3], eight[0], eight[2]}));
}

/// transformers raises a rounded base to a power in float32; here each slope is rounded once.
TEST(AlibiSlopes, EqualTransformers) {
  for (const std::size_t heads : {1, 2, 3, 6, 8, 12, 25, 32, 71}) {
    const std::vector<float> expected = golden<float>("alibi." + std::to_string(heads));
    const std::vector<float> slopes = alibi_slopes(heads);
    ASSERT_EQ(slopes.size(), expected.size());
    for (std::size_t h = 0; h < heads; ++h) EXPECT_NEAR(slopes[h] / expected[h], 1, 2e-6) << heads << ", head " << h;
  }
}

TEST(AlibiBias, IsTheSlopeTimesTheDistance) {
  const Tensor<float, 3> bias = alibi_bias(8, 2, 4);  // queries at positions 2 and 3
  EXPECT_EQ(bias.shape(), (Shape<3>{8, 2, 4}));
  const auto row = [&](std::size_t h, std::size_t q) {
    const auto values = bias.view()[h][q];
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_EQ(row(0, 0), (std::vector<float>{-1, -0.5F, 0, 0.5F}));
  EXPECT_EQ(row(0, 1), (std::vector<float>{-1.5F, -1, -0.5F, 0}));
  EXPECT_EQ(row(7, 1), (std::vector<float>{-3 / 256.0F, -2 / 256.0F, -1 / 256.0F, 0}));
}

/// Bloom leaves the query's own position out, which softmax does not see.
TEST(AlibiBias, EqualsTransformersButForANumberPerRow) {
  constexpr std::size_t kHeads = 12;
  constexpr std::size_t kKeys = 6;
  const std::vector<float> expected = golden<float>("alibi.bias");
  const Tensor<float, 3> bias = alibi_bias(kHeads, kKeys, kKeys);
  for (std::size_t h = 0; h < kHeads; ++h) {
    for (std::size_t q = 0; q < kKeys; ++q) {
      for (std::size_t j = 0; j < kKeys; ++j) {
        EXPECT_NEAR(bias.view()(h, q, j) - bias.view()(h, q, 0), expected[h * kKeys + j], 1e-6);
      }
    }
  }
}

TEST(AlibiBias, RefusesShapesWithoutScores) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { alibi_slopes(0); }),
            "[alibi_slopes] expected at least 1 head, received 0");
  EXPECT_EQ(message_of<std::invalid_argument>([] { alibi_bias(0, 2, 2); }),
            "[alibi_bias] expected at least 1 head, at least 1 query and no fewer keys than queries, received 0 heads, "
            "2 queries, 2 keys");
  EXPECT_THROW(alibi_bias(8, 0, 2), std::invalid_argument);
  EXPECT_THROW(alibi_bias(8, 3, 2), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
