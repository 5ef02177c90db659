#include "firstlayer/encode/tokenizer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

using Ids = std::vector<TokenId>;

class TokenizerTest : public ::testing::Test {
 protected:
  Tokenizer gpt2_ = Tokenizer::get_encoding("gpt2");
};

TEST_F(TokenizerTest, EncodesTheLessonsSentence) {
  EXPECT_EQ(gpt2_.encode("Hello, do you like tea? <|endoftext|> In the sunlit terraces", {.allow_all = true}),
            (Ids{15496, 11, 466, 345, 588, 8887, 30, 220, 50256, 554, 262, 4252, 18250, 8812, 2114}));
}

TEST_F(TokenizerTest, NamesAndSizes) {
  EXPECT_EQ(gpt2_.name(), "gpt2");
  EXPECT_EQ(gpt2_.vocabulary_size(), 50257U);
  EXPECT_EQ(gpt2_.end_of_text(), 50256U);
  EXPECT_EQ(Tokenizer::encoding_names(), std::vector<std::string>{"gpt2"});
}

TEST_F(TokenizerTest, RefusesASpecialTokenUnlessToldOtherwise) {
  const std::string text = "Hi <|endoftext|>";
  try {
    gpt2_.encode(text);
    FAIL() << "the special token was not refused";
  } catch (const SpecialTokenError& error) {
    EXPECT_EQ(error.token(), "<|endoftext|>");
    EXPECT_EQ(error.position(), 3U);
  }
  EXPECT_EQ(gpt2_.encode(text, {.allowed = {"<|endoftext|>"}}), (Ids{17250, 220, 50256}));
  EXPECT_EQ(gpt2_.encode(text, {.others_are_text = true}), (Ids{17250, 1279, 91, 437, 1659, 5239, 91, 29}));
  EXPECT_EQ(gpt2_.encode_ordinary(text), (Ids{17250, 1279, 91, 437, 1659, 5239, 91, 29}));
}

TEST_F(TokenizerTest, RefusesAnAllowedNameThatIsNoSpecialToken) {
  EXPECT_EQ(testing::message_of<std::invalid_argument>([&] { gpt2_.encode("x", {.allowed = {"<|eot|>"}}); }),
            "[encode] expected allowed special tokens among <|endoftext|>, received \"<|eot|>\"");
}

TEST_F(TokenizerTest, SpecialTokensSideBySideAndAtTheEnds) {
  EXPECT_EQ(gpt2_.encode("<|endoftext|><|endoftext|>", {.allow_all = true}), (Ids{50256, 50256}));
  EXPECT_EQ(gpt2_.encode("  <|endoftext|>  a", {.allow_all = true}), (Ids{220, 220, 50256, 220, 257}));
}

TEST_F(TokenizerTest, EveryIdDecodesAndEveryByteEncodes) {
  std::string all;
  for (TokenId id = 0; id < gpt2_.vocabulary_size(); ++id) all += gpt2_.token_bytes(id);
  EXPECT_EQ(all.size(), 320'814U + std::string("<|endoftext|>").size());
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(gpt2_.decode(gpt2_.encode_ordinary(bytes)), bytes);
}

TEST_F(TokenizerTest, RefusesIdsOutsideTheVocabulary) {
  EXPECT_EQ(testing::message_of<std::out_of_range>([&] {
              gpt2_.decode(Ids{1, 2, 50257});
            }),
            "[decode] expected ids below V = 50257, received 50257 at place 2");
  EXPECT_EQ(testing::message_of<std::out_of_range>([&] { gpt2_.token_bytes(4'000'000'000); }),
            "[token_bytes] expected an id of a token of gpt2, received 4000000000");
}

TEST_F(TokenizerTest, RefusesAnUnknownEncoding) {
  EXPECT_EQ(testing::message_of<std::invalid_argument>([] { Tokenizer::get_encoding("gpt-2"); }),
            "[get_encoding] expected one of gpt2, received \"gpt-2\"");
}

TEST_F(TokenizerTest, EmptyTextHasNoIds) {
  EXPECT_EQ(gpt2_.encode(""), Ids{});
  EXPECT_EQ(gpt2_.decode({}), "");
}

TEST_F(TokenizerTest, ThreadsShareOne) {
  const std::string text(2000, 'x');
  const Ids expected = gpt2_.encode(text);
  std::vector<std::thread> threads;
  std::vector<Ids> results(4);
  for (Ids& result : results) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) result = gpt2_.encode(text + " and " + text);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ids& result : results) EXPECT_EQ(result, gpt2_.encode(text + " and " + text));
}

// Other tokenizers were seen to crash after some hundreds of create/free cycles.
TEST_F(TokenizerTest, ManyCyclesOfMakingAndFreeing) {
  for (int round = 0; round < 1000; ++round) {
    ASSERT_EQ(Tokenizer::get_encoding("gpt2").encode("Hello"), Ids{15496});
  }
}

// Encoders built on script objects break on the names of their built-in members.
TEST_F(TokenizerTest, WordsThatAreMembersOfScriptObjects) {
  EXPECT_EQ(gpt2_.encode("constructor toString __proto__"), (Ids{41571, 273, 284, 10100, 11593, 1676, 1462, 834}));
}

}  // namespace
}  // namespace firstlayer
