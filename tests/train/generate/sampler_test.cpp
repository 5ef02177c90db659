#include "firstlayer/train/generate/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

constexpr float kInf = INFINITY;

std::vector<TokenId> draw(const SamplerOptions& options, std::span<const float> logits, std::size_t count,
                          std::uint64_t seed = 3) {
  Sampler sampler(options, seed);
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(sampler.sample(logits));
  return ids;
}

std::set<TokenId> drawn(const SamplerOptions& options, std::span<const float> logits) {
  const std::vector<TokenId> ids = draw(options, logits, 2000);
  return {ids.begin(), ids.end()};
}

std::vector<float> random_logits(std::size_t count) {
  Generator generator(1);
  std::vector<float> logits(count);
  generator.fill_normal(logits, 0.0, 2.0);
  return logits;
}

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
  EXPECT_EQ(draw({.greedy = true}, std::vector<float>{1, 5, -2, 5}, 3), (std::vector<TokenId>{1, 1, 1}));
  EXPECT_EQ(draw({.greedy = true}, std::vector<float>{-kInf, -7}, 1), (std::vector<TokenId>{1}));
}

TEST(Sampler, DrawsTheProbabilitiesOfTheSoftmax) {
  const std::vector<float> logits = {0, std::log(2.0F), std::log(5.0F), -kInf};
  for (const double temperature : {1.0, 0.5}) {
    std::map<TokenId, double> share;
    for (const TokenId id : draw({.temperature = temperature}, logits, 40000)) share[id] += 1.0 / 40000;
    const double sum = 1 + std::pow(2, 1 / temperature) + std::pow(5, 1 / temperature);
    EXPECT_NEAR(share[0], 1 / sum, 0.01) << temperature;
    EXPECT_NEAR(share[1], std::pow(2, 1 / temperature) / sum, 0.01) << temperature;
    EXPECT_EQ(share.count(3), 0);
  }
}

TEST(Sampler, TheSameSeedDrawsTheSameTokens) {
  const std::vector<float> logits = random_logits(100);
  EXPECT_EQ(draw({}, logits, 50, 7), draw({}, logits, 50, 7));
  EXPECT_NE(draw({}, logits, 50, 7), draw({}, logits, 50, 8));
  // numpy's MT19937 of that seed, and cumsum and searchsorted of PyTorch's normal numbers.
  EXPECT_EQ(draw({}, logits, 8, 123), (std::vector<TokenId>{55, 44, 32, 46, 55, 44, 91, 55}));
}

TEST(Sampler, TopKKeepsTheLikeliestAndOfEqualsTheLowerIds) {
  EXPECT_EQ(drawn({.top_k = 2}, std::vector<float>{0, 3, 1, 2}), (std::set<TokenId>{1, 3}));
  EXPECT_EQ(drawn({.top_k = 3}, std::vector<float>{1, 2, 1, 1, 1}), (std::set<TokenId>{0, 1, 2}));
  EXPECT_EQ(drawn({.top_k = 1}, std::vector<float>{1, 1, 1}), (std::set<TokenId>{0}));
}

TEST(Sampler, TopPKeepsTheFewestThatReachIt) {
  const std::vector<float> logits = {std::log(0.1F), std::log(0.4F), std::log(0.2F), std::log(0.3F)};
  EXPECT_EQ(drawn({.top_p = 0.1}, logits), (std::set<TokenId>{1}));
  EXPECT_EQ(drawn({.top_p = 0.6}, logits), (std::set<TokenId>{1, 3}));
  EXPECT_EQ(drawn({.top_p = 0.85}, logits), (std::set<TokenId>{1, 2, 3}));
  EXPECT_EQ(drawn({.top_p = 0.3}, std::vector<float>{1, 1, 1, 1}), (std::set<TokenId>{0, 1}));
  // After top_k two are left, of 4/7 and 3/7.
  EXPECT_EQ(drawn({.top_k = 2, .top_p = 0.5}, logits), (std::set<TokenId>{1}));
}

TEST(Sampler, OptionsThatLeaveAllChangeNothing) {
  const std::vector<float> logits = random_logits(300);
  const std::vector<TokenId> plain = draw({}, logits, 200);
  EXPECT_EQ(draw({.top_k = 300}, logits, 200), plain);
  EXPECT_EQ(draw({.top_k = 299, .top_p = 1}, logits, 200), plain);  // the least likely does not come up
  EXPECT_EQ(draw({.top_k = 1000}, logits, 200), plain);
}

TEST(Sampler, RefusesWhatIsNoDistribution) {
  const auto words = [](const std::vector<float>& logits) {
    return message_of<std::invalid_argument>([&] { Sampler({}).sample(logits); });
  };
  EXPECT_EQ(words({1, NAN}), "[Sampler::sample] expected logits that are numbers, received nan for id 1");
  EXPECT_EQ(words({kInf}), "[Sampler::sample] expected logits that are numbers, received inf for id 0");
  EXPECT_EQ(words({-kInf, -kInf}), "[Sampler::sample] expected a logit above -inf, received none of 2");
  EXPECT_EQ(words({}), "[Sampler::sample] expected a logit above -inf, received none of 0");
  for (const double temperature : {0.0, -1.0, double{NAN}, double{INFINITY}}) {
    EXPECT_THROW(Sampler({.temperature = temperature}), std::invalid_argument) << temperature;
  }
  for (const double p : {0.0, 1.5, double{NAN}}) EXPECT_THROW(Sampler({.top_p = p}), std::invalid_argument) << p;
}

TEST(Sampler, TinyTemperaturesAreGreedy) {
  const std::vector<float> logits = random_logits(100);
  EXPECT_EQ(draw({.temperature = 1e-9}, logits, 5), draw({.greedy = true}, logits, 5));
}

}  // namespace
}  // namespace firstlayer
