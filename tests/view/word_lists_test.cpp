#include "firstlayer/view/word_lists.h"

#include <gtest/gtest.h>

#include <string>

#include "firstlayer/train/checkpoint/content_hash.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

/// questions-words.txt again.
std::string questions_text() {
  std::string text;
  for (const QuestionSection& section : word_questions()) {
    text.append(": ").append(section.name).append("\n");
    for (const WordQuestion& question : section.questions) {
      text.append(question.a).append(" ").append(question.b).append(" ");
      text.append(question.c).append(" ").append(question.answer).append("\n");
    }
  }
  return text;
}

TEST(WordLists, HoldEveryQuestionInOrder) {
  ASSERT_EQ(word_questions().size(), 14U);
  EXPECT_EQ(word_questions().front().name, "capital-common-countries");
  EXPECT_EQ(word_questions().front().questions.size(), 506U);
  std::size_t questions = 0;
  for (const QuestionSection& section : word_questions()) questions += section.questions.size();
  EXPECT_EQ(questions, 19544U);
  const std::string text = questions_text();
  EXPECT_EQ(text.size(), 603955U);
  ContentHash hash;
  hash.add(testing::as_bytes(text));
  EXPECT_EQ(hash.value(), 0x479A8ADE129E04F1U);  // of the published file, SHA-256 8c29b333…
}

TEST(WordLists, HoldEveryPairOfWordSim) {
  ASSERT_EQ(wordsim_353().size(), 353U);
  EXPECT_EQ(wordsim_353().front().first, "love");
  EXPECT_EQ(wordsim_353().front().second, "sex");
  EXPECT_EQ(wordsim_353().front().rating, 6.77);
  EXPECT_EQ(wordsim_353()[2].rating, 10.0);
  double sum = 0;
  for (const RatedPair& pair : wordsim_353()) sum += pair.rating;
  EXPECT_NEAR(sum, 2067.12, 1e-9);
}

TEST(WordLists, AreThePublishedOnes) {
  const std::filesystem::path published = std::filesystem::path(FIRSTLAYER_SHARED_DATA) / "analogy/questions-words.txt";
  if (!std::filesystem::exists(published)) GTEST_SKIP() << "expected " << published << ", which is not there";
  EXPECT_EQ(questions_text(), testing::read_file(published));
}

}  // namespace
}  // namespace firstlayer
