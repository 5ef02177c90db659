#include "firstlayer/view/row_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/every_target.h"

namespace firstlayer {
namespace {

constexpr std::size_t kRows = 61;  // not whole registers
constexpr std::size_t kRoom = 64;

struct RandomRows {
  explicit RandomRows(Generator& generator) {
    for (std::vector<float>* each : {&scale, &error, &size, &offset}) {
      each->resize(kRoom);
      generator.fill_normal(*each);
    }
    for (std::int32_t& dot : dots) dot = static_cast<std::int32_t>(generator.next_u32() % 2001) - 1000;
  }

  RowRange range() const { return {{scale.data(), error.data(), size.data(), offset.data()}, 500, kRows}; }

  std::vector<float> scale;
  std::vector<float> error;
  std::vector<float> size;
  std::vector<float> offset;
  std::array<std::int32_t, 3 * kRoom> dots{};
};

/// One word for each candidate: its id and the bits of its bound.
template <class Collect>
std::vector<std::string> found(Collect collect) {
  std::vector<Candidate> out(kRoom);
  out.resize(collect(out.data()));
  std::vector<std::string> words;
  for (const Candidate& one : out) {
    words.push_back(std::to_string(one.id) + ":" + std::to_string(std::bit_cast<std::uint32_t>(one.bound)));
  }
  return words;
}

class RowBounds : public testing::OnTarget {};

TEST_P(RowBounds, EqualsTheReferenceForSums) {
  Generator generator(1);
  for (int round = 0; round < 50; ++round) {
    const RandomRows rows(generator);
    const QueryFactors query{.scale = 0.01F, .size = 0.5F, .error = 0.25F, .offset = round % 2 == 0 ? 0.0F : 1.0F};
    for (const float least : {-std::numeric_limits<float>::infinity(), 0.0F, 5.0F, 1e9F}) {
      EXPECT_EQ(found([&](Candidate* out) { return collect_sums(rows.dots.data(), rows.range(), query, least, out); }),
                found([&](Candidate* out) {
                  return collect_sums_reference(rows.dots.data(), rows.range(), query, least, out);
                }));
    }
  }
}

TEST_P(RowBounds, EqualsTheReferenceForProducts) {
  Generator generator(2);
  for (int round = 0; round < 50; ++round) {
    const RandomRows rows(generator);
    const QueryFactors query{.scale = 0.001F, .size = 0.01F, .error = 0.02F, .offset = 0.0F};
    const ProductQuery product{query, query, query, 0.001F};
    for (const float least : {-std::numeric_limits<float>::infinity(), 0.1F, 1.0F, 1e9F}) {
      EXPECT_EQ(found([&](Candidate* out) {
                  return collect_products(rows.dots.data(), kRoom, rows.range(), product, least, out);
                }),
                found([&](Candidate* out) {
                  return collect_products_reference(rows.dots.data(), kRoom, rows.range(), product, least, out);
                }));
    }
  }
}

TEST_P(RowBounds, AnEqualBoundIsKept) {
  const std::vector<float> one(16, 1.0F);
  const std::vector<float> none(16, 0.0F);
  const std::vector<std::int32_t> dots(16, 3);
  const RowRange rows{{one.data(), none.data(), none.data(), none.data()}, 0, 2};
  std::array<Candidate, 16> out{};
  EXPECT_EQ(collect_sums(dots.data(), rows, {.scale = 1.0F}, 3.0F, out.data()), 2U);
  EXPECT_EQ(collect_sums(dots.data(), rows, {.scale = 1.0F}, 3.5F, out.data()), 0U);
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, RowBounds, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
