#include "firstlayer/encode/special_tokens.h"

#include <gtest/gtest.h>

#include <vector>

namespace firstlayer {
namespace {

TEST(FindSpecial, TheFirstPlaceWins) {
  std::vector<SpecialToken> tokens = {{"<b>", 2}, {"<a>", 1}};
  auto match = find_special("x<a><b>", 0, tokens);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->token.id, 1U);
  EXPECT_EQ(match->position, 1U);
  match = find_special("x<a><b>", 2, tokens);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->token.id, 2U);
  EXPECT_EQ(match->position, 4U);
}

TEST(FindSpecial, AtOnePlaceTheLongestWins) {
  std::vector<SpecialToken> tokens = {{"<a", 1}, {"<a>>", 3}, {"<a>", 2}};
  EXPECT_EQ(find_special("-<a>>", 0, tokens)->token.id, 3U);
  EXPECT_EQ(find_special("-<a>", 0, tokens)->token.id, 2U);
}

TEST(FindSpecial, NothingToFind) {
  std::vector<SpecialToken> tokens = {{"<|endoftext|>", 50256}};
  EXPECT_FALSE(find_special("<|endoftext|", 0, tokens));
  EXPECT_FALSE(find_special("", 0, tokens));
  EXPECT_FALSE(find_special("<|endoftext|>", 1, tokens));
  EXPECT_FALSE(find_special("<|endoftext|>", 0, {}));
}

TEST(SpecialTokenError, SaysWhichAndWhere) {
  SpecialTokenError error("<|endoftext|>", 12);
  EXPECT_EQ(error.token(), "<|endoftext|>");
  EXPECT_EQ(error.position(), 12U);
  EXPECT_STREQ(error.what(),
               "[encode] expected text without special tokens that are not allowed, received \"<|endoftext|>\" at byte "
               "12; allow it by name to get its id, or have special tokens encoded as ordinary text");
}

}  // namespace
}  // namespace firstlayer
