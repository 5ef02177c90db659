#include "firstlayer/lookup/position/position_ids.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "tests/lookup/position/golden.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::golden;
using testing::message_of;

std::vector<TokenId> values_of(const Tensor<TokenId, 2>& positions) {
  return {positions.flat().begin(), positions.flat().end()};
}

TEST(ConsecutivePositions, CountFromTheOffset) {
  EXPECT_EQ(values_of(consecutive_positions({2, 3})), (std::vector<TokenId>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values_of(consecutive_positions({1, 3}, 2)), (std::vector<TokenId>{2, 3, 4}));
  EXPECT_EQ(consecutive_positions({0, 3}).size(), 0U);
}

TEST(MaskedPositions, EqualThoseOfGenerate) {
  std::vector<std::size_t> shape;
  const std::vector<std::uint8_t> mask = golden<std::uint8_t>("mask", &shape);
  const std::vector<std::int32_t> expected = golden<std::int32_t>("mask.positions");
  const Shape<2> ids{shape[0], shape[1]};
  EXPECT_EQ(values_of(masked_positions({mask, ids}, ids)), std::vector<TokenId>(expected.begin(), expected.end()));
}

TEST(MaskedPositions, DoNotMoveASentenceForItsPadding) {
  const std::vector<std::uint8_t> mask = {0, 0, 1, 1, 1};
  EXPECT_EQ(values_of(masked_positions({mask, {1, 5}}, {1, 5})), (std::vector<TokenId>{0, 0, 0, 1, 2}));
  EXPECT_EQ(values_of(masked_positions({mask, {1, 5}}, {1, 5}, 0, 1)), (std::vector<TokenId>{1, 1, 0, 1, 2}));
}

/// OPT adds 2 to every position, and -1, the position of padding, becomes 1.
TEST(MaskedPositions, CountAsOptDoes) {
  const std::vector<std::uint8_t> mask = {0, 0, 1, 1, 1};
  EXPECT_EQ(values_of(masked_positions({mask, {1, 5}}, {1, 5}, 2, 1)), (std::vector<TokenId>{1, 1, 2, 3, 4}));
}

TEST(MaskedPositions, GoOnWhereTheCacheEnds) {
  const std::vector<std::uint8_t> mask = {0, 0, 1, 1, 1,   //
                                          1, 1, 1, 1, 1};  // the last two columns are new ids
  EXPECT_EQ(values_of(masked_positions({mask, {2, 5}}, {2, 2})), (std::vector<TokenId>{1, 2, 3, 4}));
}

TEST(MaskedPositions, RefuseAMaskOfAnotherShape) {
  const std::vector<std::uint8_t> mask(6, 1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              masked_positions({mask, {2, 3}}, {2, 4});
            }),
            "[masked_positions] expected a mask (B, P + T) for ids (B, T) = (2, 4), received (2, 3)");
  EXPECT_THROW(masked_positions({mask, {3, 2}}, {2, 2}), std::invalid_argument);
}

TEST(MaskedPositions, RefuseANumberThatIsNoMask) {
  const std::vector<std::uint8_t> mask = {1, 1, 1, 1, 1, 255};
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              masked_positions({mask, {2, 3}}, {2, 3});
            }),
            "[masked_positions] expected a mask of 0 and 1, received 255 at (b=1, t=2)");
}

TEST(DocumentPositions, StartAnewBehindTheEnd) {
  constexpr TokenId kEnd = 50256;
  const std::vector<TokenId> ids = {5, 6, kEnd, 7, kEnd, kEnd,  //
                                    8, 9, 1,    2, 3,    kEnd};
  EXPECT_EQ(values_of(document_positions({ids, {2, 6}}, kEnd)), (std::vector<TokenId>{0, 1, 2, 0, 1, 0,  //
                                                                                      0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of(document_positions({ids, {2, 6}}, kEnd, 2)), (std::vector<TokenId>{2, 3, 4, 2, 3, 2,  //
                                                                                         2, 3, 4, 5, 6, 7}));
}

TEST(DocumentPositions, TakeIdsOfAnyWidth) {
  Tensor<std::uint16_t, 2> narrow({1, 4});
  Tensor<std::int64_t, 2> wide({1, 4});
  for (std::size_t t = 0; t < 4; ++t) {
    narrow.view()(0, t) = t == 1 ? 50256 : 7;
    wide.view()(0, t) = t == 1 ? 50256 : -1;  // 32 bits of -1 are no id
  }
  EXPECT_EQ(values_of(document_positions(narrow, 50256)), (std::vector<TokenId>{0, 1, 0, 1}));
  EXPECT_EQ(values_of(document_positions(wide, 50256)), (std::vector<TokenId>{0, 1, 0, 1}));
  EXPECT_EQ(values_of(document_positions(wide, std::numeric_limits<TokenId>::max())),
            (std::vector<TokenId>{0, 1, 2, 3}));
}

TEST(Positions, RefuseWhatDoesNotFit32Bits) {
  constexpr std::size_t kMost = std::numeric_limits<TokenId>::max();
  EXPECT_EQ(values_of(consecutive_positions({1, 1}, kMost - 1)), std::vector<TokenId>{static_cast<TokenId>(kMost - 1)});
  EXPECT_EQ(message_of<std::out_of_range>([] {
              consecutive_positions({1, 2}, kMost - 1);
            }),
            "[consecutive_positions] expected offset and length that together are below 2^32, received offset = "
            "4294967294, length = 2");
  const std::vector<std::uint8_t> mask = {1, 1};
  EXPECT_THROW(masked_positions({mask, {1, 2}}, {1, 2}, kMost), std::out_of_range);
  const std::vector<TokenId> ids = {1, 2};
  EXPECT_THROW(document_positions({ids, {1, 2}}, 0, std::numeric_limits<std::size_t>::max()), std::out_of_range);
}

TEST(CheckPositions, NamesTheFirstThatReachesTheContext) {
  const std::vector<TokenId> positions = {0, 1, 2, 3, 1024, 2000};
  check_positions("here", {positions, {2, 3}}, 2001);
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              check_positions("here", {positions, {2, 3}}, 1024);
            }),
            "[here] expected positions below context = 1024, received 1024 at (b=1, t=1)");
}

}  // namespace
}  // namespace firstlayer
