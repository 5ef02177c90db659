#include "firstlayer/lookup/position/relative_bias.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "tests/lookup/position/golden.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::golden;
using testing::message_of;

TEST(RelativeBucket, EqualsTransformers) {
  constexpr std::int64_t kFirst = -300;
  for (const RelativeBuckets& buckets :
       {RelativeBuckets{}, RelativeBuckets{.bidirectional = false}, RelativeBuckets{.max_distance = 256},
        RelativeBuckets{16, 64, false}, RelativeBuckets{4, 3, true}, RelativeBuckets{10, 160, false},
        RelativeBuckets{20, 320, false}, RelativeBuckets{2, 2, false}, RelativeBuckets{12, 100, false}}) {
    const std::string name = std::string("t5.").append(buckets.bidirectional ? "both." : "back.") +
                             std::to_string(buckets.count) + "." + std::to_string(buckets.max_distance);
    const std::vector<std::int32_t> expected = golden<std::int32_t>(name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::int64_t distance = kFirst + static_cast<std::int64_t>(i);
      EXPECT_EQ(relative_bucket(distance, buckets), static_cast<std::size_t>(expected[i])) << name << " " << distance;
    }
  }
}

TEST(RelativeBucket, TakesAnyDistance) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(relative_bucket(kLeast, {}), 15U);
  EXPECT_EQ(relative_bucket(kMost, {}), 31U);
  EXPECT_EQ(relative_bucket(kLeast, {.bidirectional = false}), 31U);
  EXPECT_EQ(relative_bucket(kMost, {.bidirectional = false}), 0U);
  constexpr std::size_t kExact = (std::size_t{1} << 31U) - 1;
  const RelativeBuckets most{.count = 2 * kExact + 1, .max_distance = kExact + 1, .bidirectional = false};
  EXPECT_EQ(relative_bucket(-static_cast<std::int64_t>(kExact), most), kExact);
  EXPECT_EQ(relative_bucket(-static_cast<std::int64_t>(kExact + 1), most), 2 * kExact);
}

TEST(RelativeBucket, RefusesTooFewBuckets) {
  const auto refuses = [](const RelativeBuckets& buckets) {
    return message_of<std::invalid_argument>([&] { relative_bucket(1, buckets); });
  };
  EXPECT_EQ(refuses({.count = 0}),
            "[relative_bucket] expected an even number of 4 to 2^32 - 1 buckets for two directions, received 0");
  EXPECT_NE(refuses({.count = 2}).find("received 2"), std::string::npos);
  EXPECT_NE(refuses({.count = std::size_t{1} << 32U}).find("received 4294967296"), std::string::npos);
  EXPECT_NE(refuses({.count = 31}).find("even number"), std::string::npos);
  EXPECT_NE(refuses({.count = 1, .bidirectional = false}).find("2 to 2^32 - 1 buckets"), std::string::npos);
  EXPECT_EQ(refuses({.max_distance = 8}),
            "[relative_bucket] expected a max_distance above 8, the distances with a bucket of their own, received 8");
}

TEST(RelativeBias, LooksTheBucketOfEachDistanceUp) {
  constexpr std::size_t kBuckets = 32;
  constexpr std::size_t kHeads = 3;
  Tensor<float, 2> table({kBuckets, kHeads});
  for (std::size_t i = 0; i < table.size(); ++i) table.flat()[i] = static_cast<float>(i);
  for (const bool bidirectional : {true, false}) {
    const RelativeBuckets buckets{.bidirectional = bidirectional};
    const Tensor<float, 3> bias = relative_bias(table, 40, 60, buckets);
    EXPECT_EQ(bias.shape(), (Shape<3>{kHeads, 40, 60}));
    for (std::size_t h = 0; h < kHeads; ++h) {
      for (std::size_t q = 0; q < 40; ++q) {
        for (std::size_t j = 0; j < 60; ++j) {
          const auto distance = static_cast<std::int64_t>(j) - static_cast<std::int64_t>(20 + q);
          EXPECT_EQ(bias.view()(h, q, j), table.view()(relative_bucket(distance, buckets), h));
        }
      }
    }
  }
}

/// PyTorch's autograd through transformers' T5, to the bit.
TEST(RelativeBias, GradientEqualsPyTorch) {
  const std::vector<float> dbias = golden<float>("t5.dbias");
  const std::vector<float> expected = golden<float>("t5.dtable");
  const Tensor<float, 2> dtable = relative_bias_gradient({dbias, {3, 40, 60}}, {});
  EXPECT_EQ(std::vector<float>(dtable.flat().begin(), dtable.flat().end()), expected);
}

TEST(RelativeBias, RefusesOtherShapes) {
  const Tensor<float, 2> table({32, 2});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { relative_bias(table, 2, 2, {.count = 16}); }),
            "[relative_bias] expected a table (buckets, heads) of 16 rows, received (32, 2)");
  EXPECT_THROW(relative_bias(table, 3, 2, {}), std::invalid_argument);
  EXPECT_THROW(relative_bias(Tensor<float, 2>({32, 0}), 2, 2, {}), std::invalid_argument);
  EXPECT_THROW(relative_bias(table, 2, 2, {.max_distance = 8}), std::invalid_argument);
  EXPECT_THROW(relative_bias_gradient(Tensor<float, 3>({1, 3, 2}), {}), std::invalid_argument);
  EXPECT_THROW(relative_bias_gradient(Tensor<float, 3>({1, 2, 2}), {.count = 3}), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
