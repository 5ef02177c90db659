// What published vectors say: GloVe's first 30,000 words, of ../shared/data beside the checkout, if it is there.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/formats/word_vectors.h"
#include "firstlayer/view/analogy.h"
#include "firstlayer/view/families.h"
#include "firstlayer/view/neighbors.h"
#include "firstlayer/view/word_tests.h"
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

/// The vectors are of words in small letters.
RowOfWord in_small_letters(const WordVectorsFile& words) {
  return [&words](std::string_view word) { return words.find(folded_word(word)); };
}

TEST_F(Glove, AnswersQuestionsWords) {
  const AnalogyResult all = sum_of(test_analogies(*table_, in_small_letters(*words_)));
  EXPECT_EQ(all.right, 10032U);
  EXPECT_EQ(all.asked, 15276U);
  EXPECT_EQ(all.questions, 19544U);
}

TEST_F(Glove, RanksWordSim) {
  const SimilarityResult result = test_similarity(*table_, in_small_letters(*words_));
  EXPECT_EQ(result.asked, 343U);
  EXPECT_NEAR(result.rho.value(), 0.57415, 0.00001);
}

}  // namespace
}  // namespace firstlayer
