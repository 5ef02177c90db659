#include "firstlayer/view/families.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/encode/tokenizer.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

const std::vector<std::string> kWords = {"king", "dog", " King", "  KING", "", " ", "\xC3\x89t\xC3\xA9", "\xFF"};

Families families() {
  return {kWords.size(), [](TokenId id) { return std::string_view(kWords[id]); }};
}

std::vector<TokenId> members(const Families& all, TokenId id) {
  const std::span<const TokenId> ids = all.members_of(id);
  return {ids.begin(), ids.end()};
}

TEST(FoldedWord, DropsSpacesInFrontAndAsciiCapitals) {
  EXPECT_EQ(folded_word(" KING"), "king");
  EXPECT_EQ(folded_word("New York "), "new york ");
  EXPECT_EQ(folded_word("\t A"), "\t a");
  EXPECT_EQ(folded_word("   "), "");
  EXPECT_EQ(folded_word("\xC3\x89\xFF"), "\xC3\x89\xFF");
}

TEST(Families, HoldEverybodyOnce) {
  const Families all = families();
  EXPECT_EQ(all.count(), 5U);
  EXPECT_EQ(members(all, 2), (std::vector<TokenId>{0, 2, 3}));
  EXPECT_EQ(members(all, 1), std::vector<TokenId>{1});
  EXPECT_EQ(members(all, 5), (std::vector<TokenId>{4, 5}));
  EXPECT_EQ(all.family_of(3), all.family_of(0));
  EXPECT_NE(all.family_of(6), all.family_of(7));
  EXPECT_EQ(all.with_families(std::vector<TokenId>{3, 1, 0}), (std::vector<TokenId>{0, 1, 2, 3}));
  EXPECT_EQ(testing::message_of<std::out_of_range>([&] { all.members_of(8); }),
            "[Families] expected an id below V = 8, received 8");
}

TEST(Families, OfGpt2sTokens) {
  const Tokenizer tokenizer = Tokenizer::get_encoding("gpt2");
  const Families all(tokenizer.vocabulary_size(), [&](TokenId id) { return tokenizer.token_bytes(id); });
  std::size_t large = 0;
  std::size_t in_them = 0;
  for (TokenId id = 0; id < tokenizer.vocabulary_size(); ++id) {
    const std::span<const TokenId> members = all.members_of(id);
    if (members.size() < 2) continue;
    ++in_them;
    if (members.front() == id) ++large;
  }
  EXPECT_EQ(in_them, 26654U);
  EXPECT_EQ(large, 9478U);
}

TEST(FoldNeighbors, KeepsTheNearestOfEachFamily) {
  const Families all = families();
  const std::vector<Neighbor> everything = {{2, 0.9}, {0, 0.8}, {3, 0.7}, {1, 0.6}, {5, 0.5}, {4, 0.4}};
  std::vector<std::size_t> asked;
  const auto search = [&](std::size_t count) {
    asked.push_back(count);
    return std::vector<Neighbor>(everything.begin(),
                                 everything.begin() + static_cast<std::ptrdiff_t>(std::min(count, everything.size())));
  };
  const auto ids = [&](std::size_t count) {
    std::vector<TokenId> found;
    for (const Neighbor& one : fold_neighbors(all, count, search)) found.push_back(one.id);
    return found;
  };
  EXPECT_EQ(ids(1), std::vector<TokenId>{2});
  EXPECT_EQ(asked, std::vector<std::size_t>{3});
  EXPECT_EQ(ids(2), (std::vector<TokenId>{2, 1}));
  EXPECT_EQ(ids(9), (std::vector<TokenId>{2, 1, 5}));
}

}  // namespace
}  // namespace firstlayer
