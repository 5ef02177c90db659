#include "firstlayer/encode/merge.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "firstlayer/encode/encodings.h"
#include "firstlayer/encode/reference.h"
#include "tests/encode/random_text.h"

namespace firstlayer {
namespace {

std::vector<TokenId> merge(Merger& merger, std::string_view piece) {
  std::vector<TokenId> ids(piece.size());
  ids.resize(merger.merge(piece, ids.data()));
  return ids;
}

std::vector<TokenId> reference(const Vocabulary& vocabulary, std::string_view piece) {
  std::vector<TokenId> ids;
  merge_reference(vocabulary, piece, ids);
  return ids;
}

TEST(Merge, EqualsTheReferenceOnEveryLengthOfARun) {
  Vocabulary vocabulary(encodings()[0].image);
  Merger merger(vocabulary);
  for (const char* unit : {"a", "ab", "=", "-", " ", "ha", "lol", "\x80", "中", "0"}) {
    std::string piece;
    while (piece.size() < 300) {
      piece += unit;
      ASSERT_EQ(merge(merger, piece), reference(vocabulary, piece)) << piece;
    }
  }
}

TEST(Merge, EqualsTheReferenceOnRandomPieces) {
  Vocabulary vocabulary(encodings()[0].image);
  Merger merger(vocabulary);
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string piece;
    std::size_t length = 1 + random() % 200;
    std::size_t letters = 1 + random() % 26;
    for (std::size_t i = 0; i < length; ++i) piece += static_cast<char>('a' + random() % letters);
    ASSERT_EQ(merge(merger, piece), reference(vocabulary, piece)) << piece;
  }
}

TEST(Merge, EqualsTheReferenceWhereNoTokenCrosses) {
  Vocabulary vocabulary(encodings()[0].image);
  Merger merger(vocabulary);
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::string piece = testing::random_text(random, 10);
    ASSERT_EQ(merge(merger, piece), reference(vocabulary, piece)) << ::testing::PrintToString(piece);
  }
}

TEST(Merge, AnEmptyPieceHasNoIds) {
  Merger merger{Vocabulary(encodings()[0].image)};
  EXPECT_EQ(merger.merge("", nullptr), 0U);
}

}  // namespace
}  // namespace firstlayer
