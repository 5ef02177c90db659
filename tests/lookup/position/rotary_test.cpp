#include "firstlayer/lookup/position/rotary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "firstlayer/base/random.h"
#include "tests/lookup/position/golden.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::golden;
using testing::message_of;

Tensor<float, 4> random_vectors(const Shape<4>& shape, std::uint64_t seed) {
  Tensor<float, 4> x(shape);
  Generator(seed).fill_normal(x.flat());
  return x;
}

Tensor<float, 4> copy_of(const Tensor<float, 4>& x) {
  Tensor<float, 4> copy(x.shape());
  std::ranges::copy(x.flat(), copy.flat().begin());
  return copy;
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size_bytes());
  return bits;
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

struct Case {
  const char* name;
  RotaryOptions options;
};

class RotaryGolden : public ::testing::TestWithParam<Case> {};

/// transformers' apply_rotary_pos_emb of Llama and GPT-J and its autograd, to the bit.
TEST_P(RotaryGolden, EqualsTransformers) {
  const std::string name = std::string("rotary.") + GetParam().name;
  std::vector<std::size_t> axes;
  std::vector<float> x = golden<float>(name + ".x", &axes);
  std::vector<float> dx = golden<float>(name + ".dy");
  const Shape<4> shape{axes[0], axes[1], axes[2], axes[3]};
  const std::vector<std::int32_t> wide = golden<std::int32_t>("rotary.positions");
  const std::vector<TokenId> positions(wide.begin(), wide.end());

  const RotaryTable table(GetParam().options, 1024);
  table.rotate({x, shape}, {positions, {axes[0], axes[2]}});
  EXPECT_EQ(bits_of(x), bits_of(golden<float>(name + ".y")));
  table.rotate_gradient({dx, shape}, {positions, {axes[0], axes[2]}});
  EXPECT_EQ(bits_of(dx), bits_of(golden<float>(name + ".dx")));
}

/// A YaRN whose factor of 1 leaves the frequencies alone but multiplies cosines and sines.
const YarnScaling kLouder{.factor = 1, .original_context = 1024, .attention_factor = 1.25};

INSTANTIATE_TEST_SUITE_P(
    Pairings, RotaryGolden,
    ::testing::Values(Case{"halves", {.head_dim = 16}},
                      Case{"interleaved", {.head_dim = 16, .pairing = RotaryPairing::kInterleaved}},
                      Case{"halves.partial", {.head_dim = 20, .rotary_dim = 6}},
                      Case{"interleaved.partial",
                           {.head_dim = 20, .rotary_dim = 6, .pairing = RotaryPairing::kInterleaved}},
                      Case{"halves.factor", {.head_dim = 16, .scaling = kLouder}}));

TEST(RotaryTable, HoldsCosinesAndSinesOfEachAngle) {
  const RotaryTable table({.head_dim = 4}, 3);
  EXPECT_EQ(table.cosines().shape(), (Shape<2>{3, 2}));
  EXPECT_EQ(table.frequencies().theta, rotary_frequencies(4, 10000).theta);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < 2; ++i) {
      const double angle = static_cast<double>(t) * table.frequencies().theta[i];
      EXPECT_EQ(table.cosines()(t, i), static_cast<float>(std::cos(angle)));
      EXPECT_EQ(table.sines()(t, i), static_cast<float>(std::sin(angle)));
    }
  }
}

/// bfloat16 has no integers between 256 and 258, and float32 angles of long texts lose what double keeps.
TEST(RotaryTable, KeepsTheAnglesOfLongTexts) {
  constexpr std::size_t kLast = 131071;
  const RotaryTable table({.head_dim = 2}, kLast + 1);
  EXPECT_EQ(table.sines()(kLast, 0), static_cast<float>(std::sin(131071.0)));
}

TEST(RotaryTable, ScoresDependOnTheDistanceAlone) {
  for (const RotaryPairing pairing : {RotaryPairing::kHalves, RotaryPairing::kInterleaved}) {
    const RotaryTable table({.head_dim = 64, .pairing = pairing}, 1024);
    const auto score = [&](std::size_t query_position, std::size_t key_position) {
      Tensor<float, 4> query = random_vectors({1, 1, 1, 64}, 1);
      Tensor<float, 4> key = random_vectors({1, 1, 1, 64}, 2);
      table.rotate(query, query_position);
      table.rotate(key, key_position);
      return dot(query.flat(), key.flat());
    };
    EXPECT_NEAR(score(7, 3), score(1007, 1003), 1e-4);
    EXPECT_GT(std::abs(score(7, 3) - score(7, 4)), 1e-2);
  }
}

TEST(RotaryTable, OffsetIsThePositionOfTheFirst) {
  const RotaryTable table({.head_dim = 8}, 20);
  const Tensor<float, 4> x = random_vectors({2, 3, 5, 8}, 3);
  Tensor<float, 4> by_offset = copy_of(x);
  Tensor<float, 4> by_positions = copy_of(x);
  const std::vector<TokenId> positions = {15, 16, 17, 18, 19, 15, 16, 17, 18, 19};
  table.rotate(by_offset, 15);
  table.rotate(by_positions, {positions, {2, 5}});
  EXPECT_EQ(bits_of(by_offset.flat()), bits_of(by_positions.flat()));
  table.rotate_gradient(by_offset, 15);
  table.rotate_gradient(by_positions, {positions, {2, 5}});
  EXPECT_EQ(bits_of(by_offset.flat()), bits_of(by_positions.flat()));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(by_offset.flat()[i], x.flat()[i], 1e-5);
}

TEST(RotaryTable, PositionZeroChangesNothing) {
  const RotaryTable table({.head_dim = 8}, 1);
  const Tensor<float, 4> x = random_vectors({2, 3, 1, 8}, 4);
  Tensor<float, 4> rotated = copy_of(x);
  table.rotate(rotated);
  EXPECT_EQ(bits_of(rotated.flat()), bits_of(x.flat()));
}

/// <dy, R x> = <R' dy, x> for a linear map and its transpose, also when it is more than a rotation.
TEST(RotaryTable, GradientIsTheTransposedMap) {
  const RotaryTable table({.head_dim = 24, .rotary_dim = 10, .scaling = kLouder}, 50);
  const Tensor<float, 4> x = random_vectors({2, 2, 50, 24}, 5);
  const Tensor<float, 4> dy = random_vectors({2, 2, 50, 24}, 6);
  Tensor<float, 4> y = copy_of(x);
  Tensor<float, 4> dx = copy_of(dy);
  table.rotate(y);
  table.rotate_gradient(dx);
  EXPECT_NEAR(dot(dy.flat(), y.flat()), dot(dx.flat(), x.flat()), 1e-4);
}

TEST(RotaryTable, AnyNumberOfThreadsGivesTheSameBits) {
  const RotaryTable table({.head_dim = 10}, 64);
  Tensor<float, 4> one = random_vectors({3, 5, 64, 10}, 7);
  Tensor<float, 4> three = copy_of(one);
  table.rotate(one, 0, 1);
  table.rotate(three, 0, 3);
  EXPECT_EQ(bits_of(one.flat()), bits_of(three.flat()));
}

TEST(RotaryTable, RotatesNothingOfNothing) {
  const RotaryTable table({.head_dim = 4}, 2);
  Tensor<float, 4> x({0, 3, 2, 4});
  table.rotate(x);
  Tensor<float, 4> no_ids({2, 3, 0, 4});
  table.rotate(no_ids, 2);
  EXPECT_EQ(x.size() + no_ids.size(), 0U);
}

TEST(RotaryTable, RefusesWidthsThatCannotRotate) {
  EXPECT_NE(message_of<std::invalid_argument>([] { RotaryTable({.head_dim = 7}, 4); }).find("even rotary_dim"),
            std::string::npos);
  EXPECT_EQ(message_of<std::invalid_argument>([] { RotaryTable({.head_dim = 8, .rotary_dim = 10}, 4); }),
            "[RotaryTable] expected a rotary_dim of at most head_dim = 8, received 10");
  EXPECT_THROW(RotaryTable({.head_dim = 8, .rotary_dim = 3}, 4), std::invalid_argument);
  EXPECT_THROW(RotaryTable({.head_dim = 8, .rotary_dim = 0}, 4), std::invalid_argument);
  EXPECT_THROW(RotaryTable({.head_dim = 0}, 4), std::invalid_argument);
}

TEST(RotaryTable, RefusesOtherOptionsWithoutAMeaning) {
  EXPECT_THROW(RotaryTable({.head_dim = 8, .base = 0}, 4), std::invalid_argument);
  EXPECT_THROW(RotaryTable({.head_dim = 8, .scaling = LinearScaling{0.5}}, 4), std::invalid_argument);
  EXPECT_THROW(RotaryTable({.head_dim = 8}, 0), std::invalid_argument);
  const double smallest = std::numeric_limits<double>::min();
  EXPECT_NE(message_of<std::invalid_argument>([&] {
              RotaryTable({.head_dim = 1024, .base = smallest}, 1U << 20U);
            }).find("finite angles"),
            std::string::npos);
}

TEST(RotaryTable, RefusesPositionsBeyondTheContextAndWritesNothing) {
  const RotaryTable table({.head_dim = 4}, 8);
  const Tensor<float, 4> before = random_vectors({1, 1, 3, 4}, 8);
  Tensor<float, 4> x = copy_of(before);
  EXPECT_EQ(message_of<std::out_of_range>([&] { table.rotate(x, 6); }),
            "[RotaryTable::rotate] expected positions below context = 8, received offset = 6 and T = 3");
  EXPECT_THROW(table.rotate(x, std::numeric_limits<std::size_t>::max()), std::out_of_range);
  const std::vector<TokenId> positions = {0, 7, 8};
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              table.rotate_gradient(x, {positions, {1, 3}});
            }),
            "[RotaryTable::rotate_gradient] expected positions below context = 8, received 8 at (b=0, t=2)");
  EXPECT_EQ(bits_of(x.flat()), bits_of(before.flat()));
}

TEST(RotaryTable, RefusesOtherShapes) {
  const RotaryTable table({.head_dim = 4}, 8);
  Tensor<float, 4> wide({1, 1, 3, 6});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { table.rotate(wide); }),
            "[RotaryTable::rotate] expected vectors (B, heads, T, head_dim) of head_dim = 4, received (1, 1, 3, 6)");
  Tensor<float, 4> x({2, 1, 3, 4});
  const std::vector<TokenId> positions(6);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              table.rotate(x, {positions, {3, 2}});
            }),
            "[RotaryTable::rotate] expected positions (B, T) = (2, 3) for vectors (B, heads, T, head_dim) = "
            "(2, 1, 3, 4), received (3, 2)");
}

}  // namespace
}  // namespace firstlayer
