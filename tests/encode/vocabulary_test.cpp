#include "firstlayer/encode/vocabulary.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/encode/encodings.h"
#include "tests/sha256.h"

namespace firstlayer {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    std::size_t digits = std::min<std::size_t>(bytes.size() - i, 3) + 1;
    for (std::size_t k = 0; k < 4; ++k) out += k < digits ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

TEST(Vocabulary, WrittenAsATiktokenFileHasThePublishedHash) {
  Vocabulary vocabulary(encodings()[0].image);
  std::string file;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    file += base64(vocabulary.token_bytes(id)) + ' ' + std::to_string(id) + '\n';
  }
  EXPECT_EQ(testing::sha256_hex(std::as_bytes(std::span(file))),
            "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930");
}

TEST(Vocabulary, Gpt2InNumbers) {
  Vocabulary vocabulary(encodings()[0].image);
  EXPECT_EQ(vocabulary.size(), 50256U);
  EXPECT_EQ(vocabulary.longest(), 128U);
  EXPECT_EQ(vocabulary.token_bytes(0), "!");
  EXPECT_EQ(vocabulary.token_bytes(262), " the");
  EXPECT_EQ(vocabulary.token_bytes(50255), " gazed");
}

TEST(Vocabulary, EveryTokenIsWhatItsHalvesMergeTo) {
  Vocabulary vocabulary(encodings()[0].image);
  std::size_t merges = 0;
  for (TokenId left = 0; left < 300; ++left) {
    for (TokenId right = 0; right < 300; ++right) {
      TokenId merged = vocabulary.merged(left, right);
      if (merged == kNoToken) continue;
      ++merges;
      EXPECT_EQ(vocabulary.token_bytes(merged),
                std::string(vocabulary.token_bytes(left)) + std::string(vocabulary.token_bytes(right)));
    }
  }
  EXPECT_GT(merges, 1000U);
}

TEST(Vocabulary, KnowsWhichBytesNoTokenJoins) {
  Vocabulary vocabulary(encodings()[0].image);
  EXPECT_TRUE(vocabulary.joins('t', 'h'));
  EXPECT_FALSE(vocabulary.joins('h', ' '));
  std::size_t joined = 0;
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b)
      joined += vocabulary.joins(static_cast<unsigned char>(a), static_cast<unsigned char>(b));
  }
  EXPECT_EQ(joined, 2689U);
}

class BuildVocabularyImage : public ::testing::Test {
 protected:
  BuildVocabularyImage() {
    for (std::size_t i = 0; i < 256; ++i) bytes_[i] = static_cast<std::uint8_t>(i);
  }

  std::string error_of(std::vector<MergedPair> merges) {
    try {
      build_vocabulary_image(bytes_, merges);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  std::array<std::uint8_t, 256> bytes_;
};

TEST_F(BuildVocabularyImage, HoldsTheTokensAndTheirMerges) {
  std::vector<MergedPair> merges = {{'a', 'b'}, {256, 'c'}};
  std::vector<std::uint64_t> image = build_vocabulary_image(bytes_, merges);
  Vocabulary vocabulary(image);
  EXPECT_EQ(vocabulary.size(), 258U);
  EXPECT_EQ(vocabulary.token_bytes(257), "abc");
  EXPECT_EQ(vocabulary.merged('a', 'b'), 256U);
  EXPECT_EQ(vocabulary.merged(256, 'c'), 257U);
  EXPECT_EQ(vocabulary.merged('b', 'a'), kNoToken);
}

TEST_F(BuildVocabularyImage, NoMergesAtAll) {
  std::vector<std::uint64_t> image = build_vocabulary_image(bytes_, {});
  EXPECT_EQ(Vocabulary(image).merged('a', 'b'), kNoToken);
}

TEST_F(BuildVocabularyImage, RefusesAMergeOfLaterIds) {
  EXPECT_EQ(error_of({{'a', 256}}),
            "[build_vocabulary_image] expected a merge of ids below its own, 256, received 97 and 256");
}

TEST_F(BuildVocabularyImage, RefusesAPairTwice) {
  EXPECT_EQ(error_of({{'a', 'b'}, {'a', 'b'}}),
            "[build_vocabulary_image] expected each pair once, received merge 1 again");
}

TEST_F(BuildVocabularyImage, RefusesAByteTwice) {
  bytes_[7] = 6;
  EXPECT_EQ(error_of({}), "[build_vocabulary_image] expected each byte once, received byte 6 again");
}

}  // namespace
}  // namespace firstlayer
