#include "firstlayer/encode/piece_encoder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "firstlayer/encode/encodings.h"
#include "firstlayer/encode/reference.h"
#include "tests/encode/random_text.h"

namespace firstlayer {
namespace {

std::vector<TokenId> encode(PieceEncoder& encoder, std::string_view text) {
  std::vector<TokenId> ids;
  encoder.encode(text, ids);
  return ids;
}

TEST(PieceEncoder, EqualsTheReferenceColdAndWarm) {
  Vocabulary vocabulary(encodings()[0].image);
  PieceEncoder encoder(vocabulary);
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    std::string text = testing::random_text(random, 20);
    std::vector<TokenId> expected = encode_reference(vocabulary, text);
    ASSERT_EQ(encode(encoder, text), expected) << ::testing::PrintToString(text);
    ASSERT_EQ(encode(encoder, text), expected) << ::testing::PrintToString(text);
  }
}

// Pieces of every length that the caches treat differently, at the end of the text and before more of it.
TEST(PieceEncoder, EqualsTheReferenceOnEveryPieceLength) {
  Vocabulary vocabulary(encodings()[0].image);
  PieceEncoder encoder(vocabulary);
  std::string word;
  for (int length = 1; length < 80; ++length) {
    word += static_cast<char>('a' + length * 7 % 26);
    for (const std::string& text : {word, word + " ", word + "!", " " + word + " " + word}) {
      ASSERT_EQ(encode(encoder, text), encode_reference(vocabulary, text)) << text;
    }
  }
}

// More different pieces than the caches hold, twice over: entries are replaced and found again.
TEST(PieceEncoder, EqualsItselfWhenTheCachesOverflow) {
  PieceEncoder encoder{Vocabulary(encodings()[0].image)};
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += ' ' + std::to_string(i * 7919LL % 1'000'003);
  std::vector<TokenId> first = encode(encoder, text);
  EXPECT_EQ(encode(encoder, text), first);
  PieceEncoder fresh{Vocabulary(encodings()[0].image)};
  std::size_t half = text.find(' ', text.size() / 2);
  std::vector<TokenId> parts = encode(fresh, std::string_view(text).substr(0, half));
  fresh.encode(std::string_view(text).substr(half), parts);
  EXPECT_EQ(parts, first);
}

}  // namespace
}  // namespace firstlayer
