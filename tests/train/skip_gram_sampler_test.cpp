#include "firstlayer/train/skip_gram_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "firstlayer/train/skip_gram_random.h"

namespace firstlayer::skip_gram {
namespace {

TEST(Random, IsSplitMix64) {
  // The first numbers of the published generator from state 0.
  EXPECT_EQ(Random::mix(Random::kStep), 0xE220'A839'7B1D'CDAFU);
  EXPECT_EQ(Random::mix(2 * Random::kStep), 0x6E78'9E6A'A1B9'65F4U);
  EXPECT_EQ(Random::mix(3 * Random::kStep), 0x06C4'5D18'8009'454FU);
}

TEST(Random, StreamsAndSeedsDiffer) {
  EXPECT_NE(Random(1, 0).next(), Random(1, 1).next());
  EXPECT_NE(Random(1, 0).next(), Random(2, 0).next());
  EXPECT_EQ(Random(1, 2).next(), Random(1, 2).next());
}

TEST(Random, BelowReachesEveryNumberAndNoOther) {
  Random random(1, 1);
  std::vector<int> seen(5);
  for (int i = 0; i < 5000; ++i) ++seen.at(random.below(5));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000.0 * 0.8));
}

TEST(KeepProbability, IsTheFormulaOfWord2Vec) {
  EXPECT_DOUBLE_EQ(keep_probability(100, 1000, 0.001), 0.11);
  EXPECT_DOUBLE_EQ(keep_probability(1000, 1000, 0.01), 0.11);
  EXPECT_DOUBLE_EQ(keep_probability(1, 1000, 0.001), 1.0);
  EXPECT_DOUBLE_EQ(keep_probability(1000, 1000, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(keep_probability(0, 1000, 0.001), 1.0);
}

TEST(SubSampling, KeepsWithTheProbability) {
  const std::vector<std::uint64_t> counts = {100, 899, 1};
  const SubSampling kept(counts, 0.001);
  EXPECT_NEAR(kept.probability(0), 0.11, 1e-9);
  EXPECT_EQ(kept.probability(2), 1.0);
  EXPECT_TRUE(kept.keeps(0, 0));
  EXPECT_TRUE(kept.keeps(2, ~std::uint64_t{0}));
  const auto edge = static_cast<std::uint64_t>(std::llround(0.11 * 4294967296.0));
  EXPECT_TRUE(kept.keeps(0, (edge - 1) << 32));
  EXPECT_FALSE(kept.keeps(0, edge << 32));
}

void expect_probabilities(const std::vector<std::uint64_t>& counts, double power) {
  std::vector<double> expected;
  for (const std::uint64_t count : counts) {
    expected.push_back(count == 0 ? 0.0 : std::pow(static_cast<double>(count), power));
  }
  const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
  const std::vector<double> received = NoiseTable(counts, power).probabilities();
  for (std::size_t id = 0; id < counts.size(); ++id) {
    EXPECT_NEAR(received[id], expected[id] / sum, 1e-9) << id;
    if (counts[id] == 0) {
      EXPECT_EQ(received[id], 0.0) << id;
    }
  }
}

TEST(NoiseTable, HasTheProbabilities) {
  expect_probabilities({7}, 0.75);
  expect_probabilities({16, 1}, 0.75);  // 8 to 1
  expect_probabilities({5, 5, 5, 5}, 0.75);
  expect_probabilities({0, 3, 0, 0, 9}, 1.0);
  expect_probabilities({1000000, 1, 1, 0, 1}, 0.75);
  expect_probabilities({9, 4, 0}, 0.0);
  std::vector<std::uint64_t> zipf;
  for (std::uint64_t rank = 1; rank <= 5000; ++rank) zipf.push_back(10'000'000 / rank);
  expect_probabilities(zipf, 0.75);
}

TEST(NoiseTable, NoPowerIsTooLarge) {
  const std::vector<double> received =
      NoiseTable(std::vector<std::uint64_t>{1'000'000, 0, 999'999}, 1e6).probabilities();
  const double expected = 1 / (1 + std::exp(-1.0));  // (1 - 1e-6)^1e6 is 1 / e
  EXPECT_NEAR(received[0], expected, 1e-6);
  EXPECT_EQ(received[1], 0.0);
}

TEST(NoiseTable, DrawsWithTheProbabilities) {
  const std::vector<std::uint64_t> counts = {81, 16, 0, 1};  // 27, 8, 0 and 1 of 36
  const NoiseTable noise(counts, 0.75);
  Random random(3, 0);
  constexpr int kDraws = 360'000;
  std::vector<double> seen(4);
  for (int i = 0; i < kDraws; ++i) ++seen.at(noise.draw(random.next()));
  const double expected[] = {27.0 / 36, 8.0 / 36, 0.0, 1.0 / 36};
  for (std::size_t id = 0; id < 4; ++id) {
    const double sigma = std::sqrt(kDraws * expected[id] * (1 - expected[id]));
    EXPECT_NEAR(seen[id], kDraws * expected[id], 5 * sigma) << id;
  }
}

}  // namespace
}  // namespace firstlayer::skip_gram
