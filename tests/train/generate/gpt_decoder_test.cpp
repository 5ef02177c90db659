#include "firstlayer/train/generate/gpt_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "firstlayer/base/half.h"
#include "tests/test_files.h"
#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

using testing::kSmallNetwork;
using testing::logits_of;
using testing::message_of;
using testing::small_parameters;

std::vector<TokenId> some_ids(std::size_t count, std::size_t vocabulary) {
  std::vector<TokenId> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<TokenId>((i * i * 7 + 3 * i + 1) % vocabulary);
  return ids;
}

/// Rounds what a decoder rounds.
void round_to_bf16(GptParameters& parameters) {
  const GptLayout& layout = parameters.layout();
  for (std::size_t tensor = 0; tensor < layout.tensors().size(); ++tensor) {
    if (!layout.tensors()[tensor].is_matrix || tensor == layout.position_table()) continue;
    for (float& x : parameters[tensor]) x = static_cast<float>(BFloat16(x));
  }
}

/// Compares the decoder's logits after ids[0 .. t] with the network's, for all t.
void expect_logits_of_the_network(const GptConfig& config, std::size_t prompt, bool bf16 = false) {
  GptParameters parameters = small_parameters(config);
  const GptParameters given = small_parameters(config);
  if (bf16) round_to_bf16(parameters);
  const std::vector<TokenId> ids = some_ids(config.context, config.vocabulary);
  const std::vector<float> expected = logits_of(parameters, View<const TokenId, 2>(ids, {1, ids.size()}));
  GptDecoder decoder(given, {.threads = 2, .bf16 = bf16});
  std::size_t appended = 0;
  while (appended < ids.size()) {
    const std::size_t count = appended == 0 ? std::min(prompt, ids.size()) : 1;
    decoder.append(std::span(ids).subspan(appended, count));
    appended += count;
    EXPECT_EQ(decoder.length(), appended);
    const std::span<const float> received = decoder.logits();
    ASSERT_EQ(received.size(), config.vocabulary);
    for (std::size_t v = 0; v < config.vocabulary; ++v) {
      const float right = expected[(appended - 1) * config.vocabulary + v];
      ASSERT_NEAR(received[v], right, 1e-5 * std::max(1.0F, std::abs(right)))
          << scheme_name(config.position) << " t = " << appended - 1 << ", id " << v;
    }
  }
}

TEST(GptDecoder, GivesTheLogitsOfTheNetworkUnderEveryScheme) {
  using enum PositionScheme;
  for (const PositionScheme position : {kLearned, kSinusoidal, kSinusoidalHalf, kRotary, kAlibi, kNone}) {
    GptConfig config = kSmallNetwork;
    config.position = position;
    for (const std::size_t prompt : {1U, 4U, 10U}) expect_logits_of_the_network(config, prompt);
  }
}

TEST(GptDecoder, OfNetworksOfOtherSizes) {
  expect_logits_of_the_network({.vocabulary = 61, .context = 10, .layers = 0, .heads = 1, .dim = 7}, 3);
  expect_logits_of_the_network({.vocabulary = 29, .context = 10, .layers = 1, .heads = 3, .dim = 9, .tied = false}, 3);
  // More ids than a panel holds, wider than a block of a product.
  expect_logits_of_the_network({.vocabulary = 13, .context = 75, .layers = 1, .heads = 2, .dim = 8}, 70);
  expect_logits_of_the_network({.vocabulary = 13, .context = 3, .layers = 1, .heads = 2, .dim = 104}, 2);
}

TEST(GptDecoder, WithWeightsInBf16) {
  for (const std::size_t prompt : {1U, 4U}) expect_logits_of_the_network(kSmallNetwork, prompt, true);
  expect_logits_of_the_network({.vocabulary = 29, .context = 10, .layers = 1, .heads = 3, .dim = 9, .tied = false}, 3,
                               true);
  expect_logits_of_the_network({.vocabulary = 13, .context = 75, .layers = 1, .heads = 2, .dim = 104}, 70, true);
}

TEST(GptDecoder, BitsDoNotDependOnThreadsOrOnWhatWasThereBefore) {
  const GptParameters parameters = small_parameters();
  const std::vector<TokenId> ids = some_ids(7, 61);
  GptDecoder one(parameters, {.threads = 1});
  GptDecoder three(parameters, {.threads = 3});
  three.append(some_ids(9, 60));
  three.clear();
  EXPECT_EQ(three.length(), 0);
  one.append(ids);
  three.append(ids);
  EXPECT_TRUE(std::ranges::equal(one.logits(), three.logits()));
  EXPECT_TRUE(std::ranges::equal(one.logits(), three.logits()));  // asked again
}

TEST(GptDecoder, RefusesWhatDoesNotFit) {
  const GptParameters parameters = small_parameters();
  GptDecoder decoder(parameters, {.threads = 1});
  EXPECT_THROW(decoder.logits(), std::invalid_argument);
  EXPECT_THROW(decoder.append({}), std::invalid_argument);
  const std::vector<TokenId> bad = {1, 2, 61};
  EXPECT_EQ(message_of<std::out_of_range>([&] { decoder.append(bad); }),
            "[GptDecoder::append] expected ids below V = 61, received 61 at 2");
  decoder.append(some_ids(9, 61));
  EXPECT_EQ(message_of<std::out_of_range>([&] { decoder.append(some_ids(2, 61)); }),
            "[GptDecoder::append] expected at most context = 10 ids, received 2 after 9");
  EXPECT_EQ(decoder.length(), 9);
}

}  // namespace
}  // namespace firstlayer
