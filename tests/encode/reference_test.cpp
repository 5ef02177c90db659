#include "firstlayer/encode/reference.h"

#include <gtest/gtest.h>

#include "firstlayer/encode/encodings.h"

namespace firstlayer {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(SplitReference, ContractionsStandAlone) {
  EXPECT_EQ(split_reference("I'll  try"), (Pieces{"I", "'ll", " ", " try"}));
  EXPECT_EQ(split_reference("x'sy'v"), (Pieces{"x", "'s", "y", "'", "v"}));
  EXPECT_EQ(split_reference("'S 's"), (Pieces{"'", "S", " '", "s"}));
}

TEST(SplitReference, OneSpaceLeadsAWordANumberOrAnythingElse) {
  EXPECT_EQ(split_reference("a b 12 $%"), (Pieces{"a", " b", " 12", " $%"}));
  EXPECT_EQ(split_reference("abc123!?"), (Pieces{"abc", "123", "!?"}));
}

TEST(SplitReference, ARunOfSpacesLeavesItsLastCharacter) {
  EXPECT_EQ(split_reference("a   b"), (Pieces{"a", "  ", " b"}));
  EXPECT_EQ(split_reference("a\n\nb"), (Pieces{"a", "\n", "\n", "b"}));
  EXPECT_EQ(split_reference("a\u00a0\u00a0b"), (Pieces{"a", "\u00a0", "\u00a0", "b"}));
}

TEST(SplitReference, ARunOfSpacesThatEndsTheTextIsOnePiece) {
  EXPECT_EQ(split_reference("a  \n"), (Pieces{"a", "  \n"}));
  EXPECT_EQ(split_reference(" "), (Pieces{" "}));
  EXPECT_EQ(split_reference(""), Pieces{});
}

TEST(SplitReference, AnInvalidByteIsNeitherLetterNorSpace) {
  EXPECT_EQ(split_reference("a\xff\xfe!b"), (Pieces{"a", "\xff\xfe!", "b"}));
  EXPECT_EQ(split_reference(" \xc3"), (Pieces{" \xc3"}));
}

TEST(MergeReference, TakesTheLowestIdFirst) {
  Vocabulary vocabulary(encodings()[0].image);
  std::vector<TokenId> ids;
  merge_reference(vocabulary, "Hello", ids);
  EXPECT_EQ(ids, std::vector<TokenId>{15496});
  merge_reference(vocabulary, "Akwirw", ids);
  EXPECT_EQ(ids, (std::vector<TokenId>{15496, 33901, 86, 343, 86}));
}

}  // namespace
}  // namespace firstlayer
