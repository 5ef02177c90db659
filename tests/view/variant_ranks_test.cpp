#include "firstlayer/view/variant_ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

const std::vector<std::string> kWords = {"king", " king", "King", "dog", "Dog", "tea"};
const std::vector<std::uint64_t> kCounts = {3, 2, 0, 9, 1, 7};

Families families() {
  return {kWords.size(), [](TokenId id) { return std::string_view(kWords[id]); }};
}

/// On a circle, by the degrees of each word: king, " king", King, dog, Dog, tea.
Tensor<float, 2> on_a_circle(const std::vector<double>& degrees) {
  Tensor<float, 2> rows({degrees.size(), 2});
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    rows.view()(i, 0) = static_cast<float>(std::cos(degrees[i] * 3.14159265358979 / 180));
    rows.view()(i, 1) = static_cast<float>(std::sin(degrees[i] * 3.14159265358979 / 180));
  }
  return rows;
}

TEST(VariantRanks, OfWordsOnACircle) {
  const Tensor<float, 2> rows = on_a_circle({0, 30, 31, 100, 61, 10});
  const VariantRanks ranks = variant_ranks(NeighborTable(rows), families(), kCounts);
  EXPECT_EQ(ranks.families, 2U);
  EXPECT_EQ(ranks.tokens, 4U) << "King does not occur, and tea is alone";
  EXPECT_EQ(ranks.pairs, 4U);
  // dog -> Dog 1; Dog -> dog: King, " king", dog, so 3; king -> " king": tea, " king", so 2; " king" -> king: King,
  // tea, king, so 3.
  EXPECT_EQ(ranks.mean, (1 + 3 + 2 + 3) / 4.0);
  EXPECT_EQ(ranks.median, 2.5);
  EXPECT_EQ(ranks.chance, 3.0);
}

TEST(VariantRanks, OfEqualRowsTheLowerIdComesFirst) {
  Tensor<float, 2> rows({6, 2});
  for (float& number : rows.flat()) number = 1;
  // dog -> Dog after king, " king" and King: 4. Dog -> dog: 4. king -> " king": 1. " king" -> king: 1.
  EXPECT_EQ(variant_ranks(NeighborTable(rows), families(), kCounts).mean, 2.5);
}

TEST(VariantRanks, TakesTheMostFrequentFamiliesFirst) {
  const Tensor<float, 2> rows = on_a_circle({0, 30, 31, 100, 61, 10});
  const VariantRanks dogs = variant_ranks(NeighborTable(rows), families(), kCounts, 3);
  EXPECT_EQ(dogs.families, 1U);
  EXPECT_EQ(dogs.mean, 2.0);
  const VariantRanks none = variant_ranks(NeighborTable(rows), families(), kCounts, 1);
  EXPECT_EQ(none.pairs, 0U);
  EXPECT_EQ(none.mean, 0.0);
}

TEST(VariantRanks, AreThePlacesAmongAllNeighbors) {
  constexpr std::size_t kRows = 700;
  const auto word = [](TokenId id) {  // three spellings of each
    static const std::vector<std::string> words = [] {
      std::vector<std::string> all;
      for (std::size_t i = 0; i < kRows; ++i) all.push_back(std::string(i % 3, ' ') + std::to_string(i / 3));
      return all;
    }();
    return std::string_view(words[id]);
  };
  const Families all(kRows, word);
  Tensor<float, 2> rows({kRows, 21});
  Generator(3).fill_normal(rows.flat(), 0.0, 1.0);
  const NeighborTable table(rows);
  double sum = 0;
  std::size_t pairs = 0;
  for (TokenId id = 0; id < kRows; ++id) {
    const std::vector<Neighbor> found = table.find(rows.view()[id], {.count = kRows, .excluded = {id}});
    for (std::size_t place = 0; place < found.size(); ++place) {
      if (all.family_of(found[place].id) != all.family_of(id)) continue;
      sum += static_cast<double>(place + 1);
      ++pairs;
    }
  }
  const std::vector<std::uint64_t> counts(kRows, 1);
  for (const unsigned threads : {1U, 3U}) {
    const VariantRanks ranks = variant_ranks(table, all, counts, kRows, threads);
    EXPECT_EQ(ranks.pairs, pairs);
    EXPECT_EQ(ranks.mean, sum / static_cast<double>(pairs));
    EXPECT_NEAR(ranks.mean, ranks.chance, 15.0) << "noise";
  }
}

TEST(VariantRanks, RefusesAnotherMetricAndAnotherV) {
  const Tensor<float, 2> rows = on_a_circle({0, 30, 31, 100, 61, 10});
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { variant_ranks(NeighborTable(rows, Metric::kDot), families(), kCounts); }),
      "[variant_ranks] expected a table for the metric cosine, received dot");
  const std::vector<std::uint64_t> five(5);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { variant_ranks(NeighborTable(rows), families(), five); }),
            "[variant_ranks] expected families and counts of V = 6 ids, received 6 and 5");
}

}  // namespace
}  // namespace firstlayer
