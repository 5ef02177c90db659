#include "firstlayer/train/generate/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/test_files.h"
#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

using testing::logits_of;
using testing::message_of;
using testing::small_parameters;

const std::vector<TokenId> kPrompt = {3, 14, 15};

struct Written {
  std::vector<TokenId> ids;
  GenerateEnd end;
};

Written write(const GptParameters& parameters, const GenerateOptions& options,
              std::span<const TokenId> prompt = kPrompt) {
  GptDecoder decoder(parameters, {.threads = 1});
  Written written;
  written.end = generate(decoder, prompt, options, [&](TokenId id) {
    written.ids.push_back(id);
    return true;
  });
  return written;
}

/// The likeliest id after `text`, by the whole network.
TokenId likeliest_after(const GptParameters& parameters, const std::vector<TokenId>& text) {
  const std::vector<float> logits = logits_of(parameters, View<const TokenId, 2>(text, {1, text.size()}));
  const auto last = logits.end() - static_cast<std::ptrdiff_t>(parameters.config().vocabulary);
  return static_cast<TokenId>(std::max_element(last, logits.end()) - last);
}

TEST(Generate, GreedyTextIsThatOfTheWholeNetwork) {
  const GptParameters parameters = small_parameters();
  const Written written = write(parameters, {.tokens = 6, .sampler = {.greedy = true}});
  EXPECT_EQ(written.end, GenerateEnd::kTokens);
  std::vector<TokenId> text = kPrompt;
  for (int i = 0; i < 6; ++i) text.push_back(likeliest_after(parameters, text));
  EXPECT_EQ(written.ids, std::vector<TokenId>(text.begin() + 3, text.end()));
}

TEST(Generate, TheSameSeedWritesTheSameText) {
  const GptParameters parameters = small_parameters();
  EXPECT_EQ(write(parameters, {.tokens = 7, .seed = 5}).ids, write(parameters, {.tokens = 7, .seed = 5}).ids);
  EXPECT_NE(write(parameters, {.tokens = 7, .seed = 5}).ids, write(parameters, {.tokens = 7, .seed = 6}).ids);
}

TEST(Generate, EndsWhereTheContextDoes) {
  const Written written = write(small_parameters(), {.tokens = 100});
  EXPECT_EQ(written.end, GenerateEnd::kContext);
  EXPECT_EQ(written.ids.size(), 8);  // seven places are left after the prompt, and the last one's logits give one more
}

TEST(Generate, SlidesByReadingTheLastHalfAnew) {
  const GptParameters parameters = small_parameters();
  const GenerateOptions options = {.tokens = 20, .sampler = {.greedy = true}, .at_context_end = ContextEnd::kSlide};
  const Written written = write(parameters, options);
  EXPECT_EQ(written.end, GenerateEnd::kTokens);
  ASSERT_EQ(written.ids.size(), 20);
  std::vector<TokenId> text = kPrompt;
  std::vector<TokenId> read = kPrompt;
  for (const TokenId id : written.ids) {
    EXPECT_EQ(id, likeliest_after(parameters, read));
    text.push_back(id);
    read.push_back(id);
    if (read.size() > 10) read.assign(text.end() - 5, text.end());
  }
}

TEST(Generate, StopsAtTheStopIdAndWhenTheTakerHasEnough) {
  const GptParameters parameters = small_parameters();
  const std::vector<TokenId> ids = write(parameters, {.tokens = 5, .sampler = {.greedy = true}}).ids;
  const TokenId stop = ids[2];
  const auto first = static_cast<std::size_t>(std::ranges::find(ids, stop) - ids.begin());
  const Written written = write(parameters, {.tokens = 5, .sampler = {.greedy = true}, .stop = stop});
  EXPECT_EQ(written.end, GenerateEnd::kStop);
  EXPECT_EQ(written.ids, std::vector<TokenId>(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(first)));

  GptDecoder decoder(parameters, {.threads = 1});
  int taken = 0;
  EXPECT_EQ(generate(decoder, kPrompt, {.tokens = 5}, [&](TokenId) { return ++taken < 2; }), GenerateEnd::kTaker);
  EXPECT_EQ(taken, 2);
}

TEST(Generate, TakesOnlyIdsOfTheVocabulary) {
  const Written written = write(small_parameters(), {.tokens = 8, .sampler = {.temperature = 100}, .vocabulary = 4});
  EXPECT_TRUE(std::ranges::all_of(written.ids, [](TokenId id) { return id < 4; }));
}

TEST(Generate, RefusesPromptsThatDoNotFit) {
  const GptParameters parameters = small_parameters();
  const std::vector<TokenId> prompt(11, 1);
  EXPECT_EQ(message_of<std::out_of_range>([&] { write(parameters, {}, prompt); }),
            "[generate] expected a prompt of at most context = 10 ids, received 11");
  EXPECT_EQ(write(parameters, {.tokens = 3, .at_context_end = ContextEnd::kSlide}, prompt).ids.size(), 3);
  EXPECT_THROW(write(parameters, {}, {}), std::invalid_argument);
  EXPECT_THROW(write(parameters, {.vocabulary = 62}), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
