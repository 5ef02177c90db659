#include "firstlayer/train/skip_gram_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace firstlayer::skip_gram {
namespace {

constexpr RateLine kRate{0.5, 0.0, 1000.0};

/// What a test deals with: a vocabulary, whose counts choose the noise.
struct Fixture {
  explicit Fixture(std::vector<std::uint64_t> counts, double sample = 0.0)
      : kept(counts, sample), noise(counts, 0.75) {}

  void deal(const std::vector<TokenId>& sentence, std::size_t window, std::size_t negatives,
            std::uint64_t first_word = 0) {
    terms.deal(sentence, first_word, kRate, {kept, noise, window, negatives}, random);
  }

  SubSampling kept;
  NoiseTable noise;
  Random random{1, 1};
  DealtTerms terms;
};

/// How often each (input, output) term is in the lists, neighbours or noise. Checks that each lies in its list.
std::map<std::pair<TokenId, TokenId>, int> terms_of(const DealtTerms& terms, bool positive) {
  std::map<std::pair<TokenId, TokenId>, int> all;
  for (std::size_t i = 0; i < kParts; ++i) {
    for (std::size_t j = 0; j < kParts; ++j) {
      const StepList& list = terms.list(i, j);
      std::size_t next = 0;
      for (const Step& step : list.steps) {
        EXPECT_EQ(step.input % kParts, i);
        EXPECT_TRUE(step.rows() >= 1 && step.rows() <= kMaxStepRows);
        for (std::size_t r = 0; r < step.rows(); ++r, ++next) {
          EXPECT_EQ(list.rows.at(next) % kParts, j);
          if ((r < step.positives) == positive) ++all[{step.input, list.rows[next]}];
        }
      }
      EXPECT_EQ(next, list.rows.size());
    }
  }
  return all;
}

TEST(RateLine, FallsInALine) {
  EXPECT_EQ(kRate.at(0), 0.5F);
  EXPECT_EQ(kRate.at(250), 0.375F);
  EXPECT_EQ(kRate.at(1000), 0.0F);
}

TEST(DealtTerms, OfTwoWords) {
  Fixture f({0, 0, 1});  // all noise is id 2
  f.deal({0, 1}, 1, 2, 100);
  EXPECT_EQ(f.terms.pairs(), 2U);
  using Terms = std::map<std::pair<TokenId, TokenId>, int>;
  EXPECT_EQ(terms_of(f.terms, true), (Terms{{{0, 1}, 1}, {{1, 0}, 1}}));
  EXPECT_EQ(terms_of(f.terms, false), (Terms{{{0, 2}, 2}, {{1, 2}, 2}}));
  ASSERT_EQ(f.terms.list(0, 2).steps.size(), 1U);
  EXPECT_EQ(f.terms.list(0, 2).steps[0].negatives, 2);
  EXPECT_EQ(f.terms.list(0, 2).steps[0].rate, kRate.at(100));
  EXPECT_EQ(f.terms.list(1, 0).steps[0].rate, kRate.at(101));
  f.terms.clear();
  EXPECT_EQ(f.terms.pairs(), 0U);
  EXPECT_TRUE(terms_of(f.terms, true).empty());
}

TEST(DealtTerms, NoiseThatIsTheNeighbourIsLeftOut) {
  Fixture f({0, 0, 1});
  f.deal({0, 2}, 1, 3);
  using Terms = std::map<std::pair<TokenId, TokenId>, int>;
  EXPECT_EQ(terms_of(f.terms, false), (Terms{{{2, 2}, 3}}));  // of the pair (2, 0), not of (0, 2)
}

TEST(DealtTerms, ASingleWordHasNone) {
  Fixture f({1});
  f.deal({0}, 5, 5);
  f.deal({}, 5, 5);
  EXPECT_EQ(f.terms.pairs(), 0U);
  EXPECT_TRUE(terms_of(f.terms, true).empty() && terms_of(f.terms, false).empty());
}

TEST(DealtTerms, EachReachIsAsLikely) {
  constexpr std::size_t kWindow = 4;
  constexpr std::size_t kWords = 20'000;
  std::vector<TokenId> sentence(kWords);
  std::iota(sentence.begin(), sentence.end(), 0U);
  Fixture f(std::vector<std::uint64_t>(kWords, 1));
  f.deal(sentence, kWindow, 1);
  std::map<std::int64_t, double> at_distance;
  for (const auto& [pair, count] : terms_of(f.terms, true)) {
    EXPECT_EQ(count, 1);
    ++at_distance[std::int64_t{pair.second} - std::int64_t{pair.first}];
  }
  EXPECT_EQ(at_distance.size(), 2 * kWindow);
  for (std::int64_t distance = 1; distance <= std::int64_t{kWindow}; ++distance) {
    const double expected = static_cast<double>(kWindow + 1 - distance) / kWindow;
    const double sigma = std::sqrt(kWords * expected * (1 - expected));
    EXPECT_NEAR(at_distance[distance], kWords * expected, 5 * sigma + kWindow) << distance;
    EXPECT_NEAR(at_distance[-distance], kWords * expected, 5 * sigma + kWindow) << distance;
  }
}

TEST(DealtTerms, SubSampledWordsMakeRoomForOthers) {
  // Word 0 is nearly all of the text and nearly never stays; then 1 and 2 are neighbours.
  Fixture f({1'000'000, 1, 1}, 1e-6);
  ASSERT_LT(f.kept.probability(0), 2e-3);
  ASSERT_EQ(f.kept.probability(1), 1.0);
  f.deal({1, 0, 0, 0, 2}, 1, 1);
  EXPECT_EQ(terms_of(f.terms, true).count({1, 2}), 1U);
  EXPECT_EQ(f.terms.list(1, 2).steps.at(0).rate, kRate.at(0));
  EXPECT_EQ(f.terms.list(2, 1).steps.at(0).rate, kRate.at(4)) << "of the word's place in the text";
}

TEST(DealtTerms, ManyRowsOfOnePartAreSeveralSteps) {
  std::vector<std::uint64_t> counts(kParts + 1);
  counts[kParts] = 1;
  Fixture f(counts);
  f.deal({0, 1, 2}, 1, 100);  // 100 or 200 times row kParts for each centre
  for (const auto& [pair, count] : terms_of(f.terms, false)) EXPECT_EQ(count, pair.first == 1 ? 200 : 100);
  ASSERT_EQ(f.terms.list(0, 0).steps.size(), 2U);
  EXPECT_EQ(f.terms.list(0, 0).steps[0].negatives, kMaxStepRows);
  EXPECT_EQ(f.terms.list(0, 0).steps[1].negatives, 100 - kMaxStepRows);
}

}  // namespace
}  // namespace firstlayer::skip_gram
