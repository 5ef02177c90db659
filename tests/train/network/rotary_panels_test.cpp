#include "firstlayer/train/network/rotary_panels.h"

#include <gtest/gtest.h>

#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

constexpr std::size_t kBatch = 3;
constexpr std::size_t kLength = 13;
constexpr std::size_t kHeads = 2;
constexpr std::size_t kWidth = 6;

/// Queries (section 0), keys or values as (B, heads, T, head_dim), which is how RotaryTable wants them.
Tensor<float, 4> section(ConstPanels qkv, std::size_t section) {
  Tensor<float, 4> out({kBatch, kHeads, kLength, kWidth});
  for (std::size_t b = 0; b < kBatch; ++b) {
    for (std::size_t head = 0; head < kHeads; ++head) {
      for (std::size_t t = 0; t < kLength; ++t) {
        for (std::size_t f = 0; f < kWidth; ++f) {
          out.view()(b, head, t, f) = qkv(b * kLength + t, (section * kHeads + head) * kWidth + f);
        }
      }
    }
  }
  return out;
}

TEST(RotaryPanels, TurnQueriesAndKeysAsRotaryTableDoes) {
  Generator generator(1);
  const RotaryTable table({.head_dim = kWidth}, kLength);
  testing::OwnedPanels qkv(kBatch * kLength, 3 * kHeads * kWidth, generator);
  Tensor<float, 4> expected[3] = {section(qkv, 0), section(qkv, 1), section(qkv, 2)};
  table.rotate(expected[0]);
  table.rotate(expected[1]);
  rotate_queries_and_keys(table, kLength, qkv, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(testing::difference(expected[i].flat(), section(qkv, i).flat()), "") << "section " << i;
  }
  table.rotate_gradient(expected[0]);
  table.rotate_gradient(expected[1]);
  rotate_gradient_back(table, kLength, qkv, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(testing::difference(expected[i].flat(), section(qkv, i).flat()), "") << "section " << i;
  }
}

}  // namespace
}  // namespace firstlayer
