#include "firstlayer/train/word_vocabulary.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

std::vector<std::string> words_of(const WordVocabulary& vocabulary) {
  std::vector<std::string> words;
  for (TokenId id = 0; id < vocabulary.size(); ++id) words.emplace_back(vocabulary.word(id));
  return words;
}

TEST(WordVocabulary, SortsByCountThenBytes) {
  const WordVocabulary vocabulary("b a  c\tb\nA \r\n\v\f b c a d\xff", 1);
  EXPECT_EQ(words_of(vocabulary), (std::vector<std::string>{"b", "a", "c", "A", "d\xff"}));
  EXPECT_EQ(std::vector<std::uint64_t>(vocabulary.counts().begin(), vocabulary.counts().end()),
            (std::vector<std::uint64_t>{3, 2, 2, 1, 1}));
  EXPECT_EQ(vocabulary.find("c"), std::optional<TokenId>(2));
  EXPECT_EQ(vocabulary.find("e"), std::nullopt);
}

TEST(WordVocabulary, RareWordsAreLeftOut) {
  const WordVocabulary vocabulary("a b a c a b", 2);
  EXPECT_EQ(words_of(vocabulary), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(vocabulary.encode("c a x b\n").ids, (std::vector<TokenId>{0, 1}));
}

TEST(WordVocabulary, OutlivesItsTextAndAMove) {
  std::string text = "few words, few";
  WordVocabulary first(text, 1);
  text.assign(text.size(), '?');
  const WordVocabulary vocabulary = std::move(first);
  EXPECT_EQ(words_of(vocabulary), (std::vector<std::string>{"few", "words,"}));
  EXPECT_EQ(vocabulary.find("words,"), std::optional<TokenId>(1));
}

TEST(WordVocabulary, LinesAreSentences) {
  const WordVocabulary vocabulary("a a b", 1);
  const WordSentences sentences = vocabulary.encode("a b\n\nx\nb\na");
  EXPECT_EQ(sentences.ids, (std::vector<TokenId>{0, 1, 1, 0}));
  EXPECT_EQ(sentences.ends, (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_TRUE(vocabulary.encode("x y\n").ends.empty());
}

TEST(WordVocabulary, ALongLineIsCut) {
  const WordVocabulary vocabulary("a a", 1);
  std::string line;
  for (int i = 0; i < 25'000; ++i) line += i % 2 == 0 ? "a " : "x ";  // unknown words count, as in gensim
  const WordSentences sentences = vocabulary.encode(line + "\na");
  EXPECT_EQ(sentences.ids.size(), 12'501U);
  EXPECT_EQ(sentences.ends, (std::vector<std::size_t>{5000, 10'000, 12'500, 12'501}));
}

TEST(WordVocabulary, NoWordsAreAnError) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { WordVocabulary("", 1); }),
            "[WordVocabulary] expected a word that occurs 1 times or more, received none");
  EXPECT_EQ(message_of<std::invalid_argument>([] { WordVocabulary("b a b c c", 5); }),
            "[WordVocabulary] expected a word that occurs 5 times or more, received 3 different words, the most "
            "frequent \"b\" 2 times");
}

TEST(WordVocabulary, AnIdBeyondIsAnError) {
  const WordVocabulary vocabulary("a", 1);
  EXPECT_EQ(message_of<std::out_of_range>([&] { vocabulary.word(1); }),
            "[WordVocabulary::word] expected an id below 1, received 1");
}

}  // namespace
}  // namespace firstlayer
