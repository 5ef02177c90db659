#include "firstlayer/train/network/gpt_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

constexpr GptConfig kConfig = {.vocabulary = 211, .context = 48, .layers = 2, .heads = 3, .dim = 24};

Tensor<TokenId, 2> random_ids(const Shape<2>& batch, Generator& generator) {
  Tensor<TokenId, 2> ids(batch);
  for (TokenId& id : ids.flat()) id = generator.next_u32() % kConfig.vocabulary;
  return ids;
}

/// Ids, targets, and parameters with some of which no two are alike.
struct Case {
  explicit Case(const Shape<2>& batch, const GptConfig& config = kConfig)
      : parameters(random_gpt_parameters(config, 1)) {
    for (NamedGradient& each : parameters.named()) {
      for (float& x : each.numbers) x = x * 3 + 0.01F * static_cast<float>(generator.next_u32() % 7);
    }
    ids = random_ids(batch, generator);
    targets = random_ids(batch, generator);
  }

  Generator generator{5};
  GptParameters parameters;
  Tensor<TokenId, 2> ids;
  Tensor<TokenId, 2> targets;
};

template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(GptNetwork, StartsWithALossOfAUniformGuess) {
  const GptParameters parameters = random_gpt_parameters(kConfig, 3);
  Case data({4, 20});
  GptNetwork network(parameters, {4, 20});
  EXPECT_NEAR(network.loss(data.ids, data.targets), std::log(211.0), 0.05);
}

TEST(GptNetwork, FastEqualsPlain) {
  for (const bool tied : {true, false}) {
    GptConfig config = kConfig;
    config.tied = tied;
    Case data({3, 41}, config);
    GptParameters plain(config);
    GptParameters fast(config);
    GptNetwork plainly(data.parameters, {3, 41}, {.plain = true});
    const double expected = plainly.backward(data.ids, data.targets, plain);
    for (const std::size_t head_memory : {std::size_t{1} << 30, std::size_t{0}}) {
      GptNetwork network(data.parameters, {3, 41}, {.head_memory = head_memory});
      EXPECT_NEAR(network.loss(data.ids, data.targets), expected, 1e-6 * expected);
      EXPECT_NEAR(network.backward(data.ids, data.targets, fast), expected, 1e-6 * expected);
      for (std::size_t i = 0; i < plain.layout().tensors().size(); ++i) {
        EXPECT_LT(testing::distance(plain[i], fast[i]), 1e-5) << plain.layout().tensors()[i].name;
      }
    }
  }
}

TEST(GptNetwork, HasTheSameBitsOnAnyNumberOfThreads) {
  Case data({5, 33});
  GptParameters first(kConfig);
  GptNetwork one(data.parameters, {5, 33}, {.threads = 1});
  const double loss = one.backward(data.ids, data.targets, first);
  for (const unsigned threads : {2U, 3U, 7U}) {
    GptParameters gradients(kConfig);
    GptNetwork network(data.parameters, {5, 33}, {.threads = threads});
    EXPECT_EQ(network.backward(data.ids, data.targets, gradients), loss);
    EXPECT_EQ(testing::difference(first.flat(), gradients.flat()), "") << threads << " threads";
  }
}

TEST(GptNetwork, StepsWithoutAGradientInMemoryAsWithOne) {
  for (const bool tied : {true, false}) {
    GptConfig config = kConfig;
    config.tied = tied;
    Case fused({3, 17}, config);
    Case dense({3, 17}, config);
    GptNetwork fused_network(fused.parameters, {3, 17});
    GptNetwork dense_network(dense.parameters, {3, 17});
    GptAdamW fused_optimizer(fused.parameters, AdamW{.lr = 0.01});
    GptAdamW dense_optimizer(dense.parameters, AdamW{.lr = 0.01});
    GptParameters gradients(config);
    for (int step = 0; step < 3; ++step) {
      const double loss = fused_network.train_step(fused.ids, fused.targets, fused_optimizer);
      EXPECT_EQ(dense_network.backward(dense.ids, dense.targets, gradients), loss);
      dense_optimizer.step(gradients);
      ASSERT_EQ(testing::difference(dense.parameters.flat(), fused.parameters.flat()), "") << "step " << step;
    }
  }
}

TEST(GptNetwork, TakesBatchesOfAnyShapeThatFits) {
  Case data({4, 24});
  GptNetwork large(data.parameters, {4, 24});
  GptParameters expected(kConfig);
  GptParameters received(kConfig);
  for (const Shape<2>& shape : {Shape<2>{4, 24}, {2, 48}, {1, 1}, {8, 12}, {3, 5}, {4, 24}}) {
    const Tensor<TokenId, 2> ids = random_ids(shape, data.generator);
    const Tensor<TokenId, 2> targets = random_ids(shape, data.generator);
    GptNetwork own(data.parameters, shape);
    EXPECT_EQ(large.backward(ids, targets, received), own.backward(ids, targets, expected)) << shape_text(shape);
    EXPECT_EQ(testing::difference(expected.flat(), received.flat()), "") << shape_text(shape);
  }
}

TEST(GptNetwork, AddsTheGradientsOfSeveralBatchesUp) {
  Case data({4, 10});
  GptNetwork network(data.parameters, {4, 10});
  GptParameters whole(kConfig);
  GptParameters parts(kConfig);
  const double loss = network.backward(data.ids, data.targets, whole);
  double mean = 0;
  for (std::size_t half = 0; half < 2; ++half) {
    const Matrix<const TokenId> ids(std::as_const(data.ids).flat().subspan(half * 20, 20), {2, 10});
    const Matrix<const TokenId> targets(std::as_const(data.targets).flat().subspan(half * 20, 20), {2, 10});
    mean += network.backward(ids, targets, parts, {.scale = 0.5, .add = half > 0}) / 2;
  }
  EXPECT_NEAR(mean, loss, 1e-6);
  for (std::size_t i = 0; i < whole.layout().tensors().size(); ++i) {
    EXPECT_LT(testing::distance(whole[i], parts[i]), 2e-6) << whole.layout().tensors()[i].name;
  }
}

TEST(GptNetwork, IgnoresTargetsOfMinusOneInEveryType) {
  Case data({2, 9});
  GptNetwork network(data.parameters, {2, 9});
  Tensor<std::int64_t, 2> wide({2, 9});
  Tensor<std::int32_t, 2> narrow({2, 9});
  for (std::size_t i = 0; i < 18; ++i) {
    const bool ignored = i % 4 == 1;
    wide.flat()[i] = ignored ? -1 : data.targets.flat()[i];
    narrow.flat()[i] = static_cast<std::int32_t>(wide.flat()[i]);
    if (ignored) data.targets.flat()[i] = static_cast<TokenId>(-1);
  }
  const double loss = network.loss(data.ids, wide);
  EXPECT_EQ(network.loss(data.ids, narrow), loss);
  EXPECT_EQ(network.loss(data.ids, data.targets), loss);
  std::ranges::fill(wide.flat(), -1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { network.loss(data.ids, wide); }),
            "[GptNetwork::loss] expected a target that is not ignored, received none");
}

TEST(GptNetwork, GradientsAreFiniteDifferences) {
  const GptConfig config = {.vocabulary = 7, .context = 4, .layers = 1, .heads = 2, .dim = 4};
  Case data({1, 4}, config);
  for (TokenId& id : data.ids.flat()) id %= 7;
  for (TokenId& id : data.targets.flat()) id %= 7;
  for (NamedGradient& each : data.parameters.named()) data.generator.fill_normal(each.numbers, 0.2, 0.7);
  GptNetwork network(data.parameters, {1, 4}, {.threads = 1});
  GptParameters gradients(config);
  network.backward(data.ids, data.targets, gradients);
  for (std::size_t i = 0; i < gradients.layout().tensors().size(); ++i) {
    SCOPED_TRACE(gradients.layout().tensors()[i].name);
    testing::expect_finite_differences(
        data.parameters[i], gradients[i], [&] { return network.loss(data.ids, data.targets); }, 3, 2e-3, 0.003F);
  }
}

TEST(GptNetwork, RefusesWhatDoesNotFit) {
  Case data({2, 8});
  GptNetwork network(data.parameters, {2, 8});
  const auto loss = [&](const Shape<2>& ids, const Shape<2>& targets) {
    return [&network, ids, targets] { network.loss(Tensor<TokenId, 2>(ids), Tensor<TokenId, 2>(targets)); };
  };
  EXPECT_EQ(message_of<std::out_of_range>(loss({1, 49}, {1, 49})),
            "[GptNetwork::loss] expected rows of T <= context = 48 ids, received T = 49");
  EXPECT_EQ(message_of<std::invalid_argument>(loss({3, 8}, {3, 8})),
            "[GptNetwork::loss] expected at most the 16 ids that the network was made for, received (3, 8)");
  EXPECT_EQ(message_of<std::invalid_argument>(loss({2, 8}, {2, 7})),
            "[GptNetwork::loss] expected targets (B, T) = (2, 8) for as many ids, received (2, 7)");
  EXPECT_EQ(message_of<std::invalid_argument>(loss({0, 8}, {0, 8})),
            "[GptNetwork::loss] expected ids (B, T), at least one, received (0, 8)");
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              GptNetwork(data.parameters, {1, 49});
            }),
            "[GptNetwork] expected rows of T <= context = 48 ids, received T = 49");

  data.ids.view()(1, 3) = 211;
  EXPECT_EQ(message_of<std::out_of_range>([&] { network.loss(data.ids, data.targets); }),
            "[GptNetwork::loss] expected ids below V = 211, received 211 at (b=1, t=3)");
  data.ids.view()(1, 3) = 0;
  data.targets.view()(1, 2) = 300;
  EXPECT_EQ(message_of<std::out_of_range>([&] { network.loss(data.ids, data.targets); }),
            "[GptNetwork::loss] expected targets below V = 211, or -1, received 300 at (b=1, t=2)");

  Tensor<float, 3> logits({2, 8, 210});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { network.logits(data.ids, logits); }),
            "[GptNetwork::logits] expected out (B, T, V) = (2, 8, 211), received (2, 8, 210)");
  GptConfig other = kConfig;
  other.layers = 1;
  GptParameters gradients(other);
  EXPECT_THROW(network.backward(data.ids, data.targets, gradients), std::invalid_argument);
  GptAdamW optimizer(gradients, AdamW{});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { network.train_step(data.ids, data.targets, optimizer); }),
            "[GptNetwork::train_step] expected the optimizer of this network's parameters, received another");
}

TEST(GptNetwork, NamesWhatMadeTheLossNotANumber) {
  for (const bool plain : {false, true}) {
    Case data({2, 8});
    GptNetwork network(data.parameters, {2, 8}, {.plain = plain});
    GptAdamW optimizer(data.parameters, AdamW{});
    network.train_step(data.ids, data.targets, optimizer);
    data.parameters.at("h.1.mlp.c_fc.weight")[5] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> before(data.parameters.at("wte.weight").begin(), data.parameters.at("wte.weight").end());
    const auto step = [&] { network.train_step(data.ids, data.targets, optimizer); };
    EXPECT_EQ(message_of<NonFiniteLoss>(step),
              "[GptNetwork::train_step] expected a finite loss, received nan at step 2; the first that is not finite: "
              "transformer.h.1.mlp.c_fc.weight");
    EXPECT_EQ(optimizer.steps(), 1U);
    EXPECT_EQ(testing::difference(before, data.parameters.at("wte.weight")), "");
  }
}

TEST(GptNetwork, NamesWhereNumbersOverflow) {
  Case data({1, 4});
  GptNetwork network(data.parameters, {1, 4});
  std::ranges::fill(data.parameters.at("h.1.attn.c_attn.bias"), 10.0F);
  std::ranges::fill(data.parameters.at("h.1.attn.c_proj.weight"), 1e38F);
  EXPECT_EQ(message_of<NonFiniteLoss>([&] { network.loss(data.ids, data.targets); }),
            "[GptNetwork::loss] expected a finite loss, received nan; the first that is not finite: the output of "
            "transformer.h.1.attn");
}

}  // namespace
}  // namespace firstlayer
