// What published vectors say: GloVe's first 30,000 words, of ../shared/data beside the checkout, if it is there.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "firstlayer/formats/word_vectors.h"
#include "firstlayer/view/analogy.h"
#include "firstlayer/view/neighbors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

const std::filesystem::path kShared = FIRSTLAYER_SHARED_DATA;

class Glove : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::filesystem::path packed = kShared / "vectors/glove6b-100d-top30k.txt.gz";
    if (!std::filesystem::exists(packed)) return;
    folder_ = new testing::TemporaryFolder;
    const std::filesystem::path text = *folder_ / "glove.txt";
    const std::string command = "gzip -dc '" + packed.string() + "' > '" + text.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    words_ = new WordVectorsFile(WordVectorsFile::open(text));
    rows_ = new Tensor<float, 2>(words_->read_all());
    table_ = new NeighborTable(*rows_);
  }

  static void TearDownTestSuite() {
    delete table_;
    delete rows_;
    delete words_;
    delete folder_;
  }

  void SetUp() override {
    if (table_ == nullptr) GTEST_SKIP() << "expected " << kShared << ", which is not there: nothing was compared";
  }

  static Analogy analogy(const std::string& a, const std::string& b, const std::string& c) {
    return {words_->find(a).value(), words_->find(b).value(), words_->find(c).value()};
  }

  static inline testing::TemporaryFolder* folder_ = nullptr;
  static inline WordVectorsFile* words_ = nullptr;
  static inline Tensor<float, 2>* rows_ = nullptr;
  static inline NeighborTable* table_ = nullptr;
};

TEST_F(Glove, IsReadWhole) {
  EXPECT_EQ(words_->layout(), WordVectorsLayout::kGlove);
  EXPECT_EQ(words_->size(), 30000U);
  EXPECT_EQ(words_->dim(), 100U);
  EXPECT_EQ(words_->word(0), "the");
}

TEST_F(Glove, KingMinusManPlusWomanIsQueen) {
  const Analogy queen = analogy("king", "man", "woman");
  for (const AnalogyRule rule : {AnalogyRule::kAdd, AnalogyRule::kMultiply}) {
    EXPECT_EQ(words_->word(find_analogies(*table_, {&queen, 1}, rule).front().front().id), "queen");
  }
}

TEST_F(Glove, NeighborsAreThoseOfScoringEveryRow) {
  for (const char* word : {"the", "king", "germany", "paris", "soup"}) {
    const std::span<const float> query = rows_->view()[words_->find(word).value()];
    const std::vector<Neighbor> expected = find_neighbors_reference(*rows_, Metric::kCosine, query, {.count = 50});
    const std::vector<Neighbor> found = table_->find(query, {.count = 50});
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].id, expected[i].id) << word << ", " << i;
  }
}

/// The lines of questions-words.txt whose four words are among the vectors: three that ask, and the answer.
TEST_F(Glove, AnswersQuestionsWords) {
  std::ifstream questions(kShared / "analogy/questions-words.txt");
  std::vector<Analogy> asked;
  std::vector<TokenId> answers;
  for (std::string line; std::getline(questions, line);) {
    std::transform(line.begin(), line.end(), line.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::istringstream parts(line);
    std::vector<TokenId> ids;
    for (std::string word; parts >> word;) {
      if (const auto id = words_->find(word)) ids.push_back(*id);
    }
    if (line.starts_with(':') || ids.size() != 4) continue;
    asked.push_back({ids[1], ids[0], ids[2]});  // Athens is to Greece as Baghdad is to Iraq
    answers.push_back(ids[3]);
  }
  ASSERT_EQ(asked.size(), 15276U);
  const auto found = find_analogies(*table_, asked, AnalogyRule::kAdd, {.count = 1});
  std::size_t right = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) right += found[i].front().id == answers[i] ? 1 : 0;
  EXPECT_EQ(right, 10032U);
}

/// Ranks from 1, equal values sharing the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / count;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / count;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

TEST_F(Glove, RanksWordSim) {
  std::ifstream pairs(kShared / "analogy/wordsim353.tsv");
  std::vector<double> people;
  std::vector<double> vectors;
  for (std::string line; std::getline(pairs, line);) {
    std::transform(line.begin(), line.end(), line.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::istringstream parts(line);
    std::string first;
    std::string second;
    double score = 0;
    if (line.starts_with('#') || !(parts >> first >> second >> score)) continue;
    const auto a = words_->find(first);
    const auto b = words_->find(second);
    if (!a || !b) continue;
    people.push_back(score);
    vectors.push_back(table_->score(rows_->view()[*a], *b));
  }
  EXPECT_NEAR(correlation(ranks_of(people), ranks_of(vectors)), 0.57415, 0.00001);
}

}  // namespace
}  // namespace firstlayer
