#include "firstlayer/encode/split.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "firstlayer/encode/reference.h"
#include "tests/encode/random_text.h"

namespace firstlayer {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    const char* end = next_piece_end(at, text.data() + text.size());
    pieces.emplace_back(at, static_cast<std::size_t>(end - at));
    at = end;
  }
  return pieces;
}

TEST(Split, EqualsTheReferenceOnRandomTexts) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text = testing::random_text(random, 12);
    ASSERT_EQ(split(text), split_reference(text)) << ::testing::PrintToString(text);
  }
}

TEST(Split, EqualsTheReferenceOnAllShortTextsOfTrickyBytes) {
  const std::string alphabet = " '\ns l1!\xc2\xa0\xe3\x80";
  for (std::size_t code = 0; code < alphabet.size() * alphabet.size() * alphabet.size() * alphabet.size(); ++code) {
    std::string text;
    for (std::size_t rest = code, i = 0; i < 4; ++i, rest /= alphabet.size()) text += alphabet[rest % alphabet.size()];
    ASSERT_EQ(split(text), split_reference(text)) << ::testing::PrintToString(text);
  }
}

TEST(SafeCut, LiesBeforeASpaceThatFollowsAWord) {
  EXPECT_EQ(find_safe_cut("one two three", 0), 7U);
  EXPECT_EQ(find_safe_cut("one two three", 7), std::nullopt);
  EXPECT_EQ(find_safe_cut("one  \n", 0), 3U);
  EXPECT_EQ(find_safe_cut("  one", 0), std::nullopt);
  EXPECT_EQ(find_safe_cut("日本\n", 0), 6U);
  EXPECT_EQ(find_safe_cut("a\u3000 b", 0), std::nullopt);
  EXPECT_EQ(find_safe_cut("a\x80 b", 0), 2U);
  EXPECT_EQ(find_safe_cut("", 0), std::nullopt);
}

TEST(SafeCut, CuttingThereChangesNoPiece) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text = testing::random_text(random, 10);
    std::optional<std::size_t> cut = find_safe_cut(text, 0);
    if (!cut) continue;
    std::vector<std::string_view> pieces = split_reference(std::string_view(text).substr(0, *cut));
    for (std::string_view piece : split_reference(std::string_view(text).substr(*cut))) pieces.push_back(piece);
    ASSERT_EQ(pieces, split_reference(text)) << ::testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace firstlayer
