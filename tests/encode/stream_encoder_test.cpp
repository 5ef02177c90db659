#include "firstlayer/encode/stream_encoder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/encode/random_text.h"

namespace firstlayer {
namespace {

std::vector<TokenId> stream(const Tokenizer& tokenizer, std::string_view text, std::size_t part,
                            const SpecialRules& rules) {
  StreamEncoder encoder(tokenizer, rules);
  std::vector<TokenId> ids;
  for (std::size_t from = 0; from < text.size(); from += part) encoder.append(text.substr(from, part), ids);
  encoder.finish(ids);
  return ids;
}

TEST(StreamEncoder, PartsOfAnySizeGiveTheIdsOfTheWhole) {
  Tokenizer tokenizer = Tokenizer::get_encoding("gpt2");
  SpecialRules rules{.allow_all = true};
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    std::string text = testing::random_text(random, 30) + "<|endoftext|>" + testing::random_text(random, 30);
    std::vector<TokenId> expected = tokenizer.encode(text, rules);
    for (std::size_t part : {1, 2, 3, 7, 64, 1000}) {
      ASSERT_EQ(stream(tokenizer, text, part, rules), expected) << part << ' ' << ::testing::PrintToString(text);
    }
  }
}

TEST(StreamEncoder, ASpecialTokenIsFoundAcrossPartsAtItsPlaceInTheWhole) {
  Tokenizer tokenizer = Tokenizer::get_encoding("gpt2");
  std::string text = "one two three <|endoftext|>";
  for (std::size_t part : {1, 4, 5, 100}) {
    try {
      stream(tokenizer, text, part, {});
      FAIL() << "the special token was not refused";
    } catch (const SpecialTokenError& error) {
      EXPECT_EQ(error.position(), 14U) << part;
    }
  }
}

TEST(StreamEncoder, GivesOutWhatIsCertain) {
  StreamEncoder encoder(Tokenizer::get_encoding("gpt2"));
  std::vector<TokenId> ids;
  encoder.append("Hello wor", ids);
  EXPECT_EQ(ids, std::vector<TokenId>{15496});
  encoder.append("ld", ids);
  EXPECT_EQ(ids, std::vector<TokenId>{15496});
  encoder.finish(ids);
  EXPECT_EQ(ids, (std::vector<TokenId>{15496, 995}));
}

TEST(StreamEncoder, CanBeUsedAgainAfterFinish) {
  StreamEncoder encoder(Tokenizer::get_encoding("gpt2"));
  std::vector<TokenId> ids;
  encoder.append("Hello", ids);
  encoder.finish(ids);
  encoder.append(" world", ids);
  encoder.finish(ids);
  EXPECT_EQ(ids, (std::vector<TokenId>{15496, 995}));
}

}  // namespace
}  // namespace firstlayer
