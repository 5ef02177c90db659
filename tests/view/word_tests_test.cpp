#include "firstlayer/view/word_tests.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/train/word_vocabulary.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

TEST(RankCorrelation, SharesTheRanksOfEqualValues) {
  const std::vector<double> x = {1, 2, 3, 4};
  EXPECT_EQ(rank_correlation(x, std::vector<double>{10, 20, 30, 400}), 1.0);
  EXPECT_EQ(rank_correlation(x, std::vector<double>{4, 3, 2, 1}), -1.0);
  // Ranks 1, 2.5, 2.5, 4: scipy.stats.spearmanr gives 0.9486832980505138.
  EXPECT_NEAR(rank_correlation(x, std::vector<double>{1, 2, 2, 3}).value(), 0.9486832980505138, 1e-15);
  EXPECT_EQ(rank_correlation(x, std::vector<double>{5, 5, 5, 5}), std::nullopt);
  EXPECT_EQ(rank_correlation(std::vector<double>{1}, std::vector<double>{2}), std::nullopt);
  EXPECT_THROW(rank_correlation(x, std::vector<double>{1}), std::invalid_argument);
}

/// Words with two numbers each.
struct SmallTable {
  std::map<std::string, TokenId, std::less<>> ids;
  std::vector<float> numbers;

  SmallTable(std::initializer_list<std::pair<const char*, std::array<float, 2>>> rows) {
    for (const auto& [word, row] : rows) {
      ids[word] = static_cast<TokenId>(ids.size());
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
  }
  View<const float, 2> view() const { return {numbers, {numbers.size() / 2, 2}}; }
  RowOfWord finder() const {
    return [this](std::string_view word) -> std::optional<TokenId> {
      const auto found = ids.find(word);
      return found == ids.end() ? std::nullopt : std::optional(found->second);
    };
  }
};

TEST(Similarity, OfThreePairs) {
  // tiger cat 7.35, tiger tiger 10.00, computer keyboard 7.62, and no other pair of the list.
  const SmallTable table({{"tiger", {1, 0}}, {"cat", {0, 1}}, {"computer", {1, 0}}, {"keyboard", {1, 0.1F}}});
  const SimilarityResult result = test_similarity(NeighborTable(table.view()), table.finder());
  EXPECT_EQ(result.asked, 3U);
  EXPECT_EQ(result.pairs, 353U);
  EXPECT_EQ(result.rho, 1.0);
}

TEST(Similarity, OfNoWordsIsNone) {
  const SmallTable table({{"xyzzy", {1, 0}}});
  const SimilarityResult result = test_similarity(NeighborTable(table.view()), table.finder());
  EXPECT_EQ(result.asked, 0U);
  EXPECT_EQ(result.rho, std::nullopt);
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { test_similarity(NeighborTable(table.view(), Metric::kL2), table.finder()); }),
            "[test_similarity] expected a table for the metric cosine, received l2");
  EXPECT_THROW(test_similarity(NeighborTable(table.view()), [](std::string_view) { return 7; }), std::out_of_range);
}

TEST(Analogies, CountWhatIsAskedAndRight) {
  // Directions: boy and girl as king and queen; "tiger" lies where "girl" is asked for.
  const SmallTable table({{"boy", {1, 0}}, {"girl", {1, 1}}, {"king", {3, 0}}, {"queen", {3, 3}}, {"tiger", {-1, 0}}});
  const NeighborTable rows(table.view());
  const std::vector<AnalogyResult> results = test_analogies(rows, table.finder());
  ASSERT_EQ(results.size(), 14U);
  for (const AnalogyResult& result : results) {
    EXPECT_EQ(result.asked, result.section == "family" ? 2U : 0U) << result.section;
  }
  EXPECT_EQ(results[4].questions, 506U);
  EXPECT_EQ(results[4].right, 2U);
  const AnalogyResult all = sum_of(results);
  EXPECT_EQ(all.right, 2U);
  EXPECT_EQ(all.asked, 2U);
  EXPECT_EQ(all.questions, 19544U);
  // queen may not be found, nor girl: nothing is right.
  EXPECT_EQ(sum_of(test_analogies(rows, table.finder(), {.only = std::vector<TokenId>{4}})).right, 0U);
  // Nobody may be found.
  EXPECT_EQ(sum_of(test_analogies(rows, table.finder(), {.only = std::vector<TokenId>{}})).right, 0U);
}

TEST(Analogies, OfAWordVocabulary) {
  const WordVocabulary words("boy girl brother sister boy", 1);
  Tensor<float, 2> rows({words.size(), 2});
  for (std::size_t i = 0; i < rows.size(); ++i) rows.flat()[i] = static_cast<float>(i + 1);
  const auto find = [&](std::string_view word) { return words.find(word); };
  EXPECT_EQ(sum_of(test_analogies(NeighborTable(rows), find)).asked, 2U);
}

}  // namespace
}  // namespace firstlayer
