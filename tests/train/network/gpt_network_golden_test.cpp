// The network beside PyTorch's: logits, every gradient, and the losses of ten steps.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firstlayer/train/network/gpt_network.h"
#include "tests/every_target.h"
#include "tests/train/network/golden_cases.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

/// A case, and an instruction set, or 0 for the plain network.
class GptNetworkGolden : public ::testing::TestWithParam<std::tuple<testing::GoldenNetwork, std::int64_t>> {
 protected:
  void SetUp() override { choose(std::get<1>(GetParam())); }
  void TearDown() override { choose(0); }

  const testing::GoldenNetwork& each() const { return std::get<0>(GetParam()); }
  GptNetworkOptions options(unsigned threads) const {
    return {.threads = threads, .plain = std::get<1>(GetParam()) == 0};
  }
  std::vector<float> golden(const std::string& name) const { return testing::golden_numbers(each().name + "." + name); }

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(GptNetworkGolden, HasPyTorchsLogits) {
  const GptParameters parameters = testing::golden_parameters(each().config);
  GptNetwork network(parameters, each().batch, options(2));
  Tensor<float, 3> logits({each().batch[0], each().batch[1], each().config.vocabulary});
  network.logits(testing::golden_batch(each(), 0).ids, logits);
  const std::vector<float> expected = golden("logits");
  ASSERT_EQ(expected.size(), logits.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], logits.flat()[i], 1e-5) << i;
}

TEST_P(GptNetworkGolden, HasPyTorchsGradients) {
  const GptParameters parameters = testing::golden_parameters(each().config);
  GptNetwork network(parameters, each().batch, options(2));
  GptParameters gradients(each().config);
  const testing::GoldenBatch batch = testing::golden_batch(each(), 0);
  network.backward(batch.ids, batch.targets, gradients);
  for (const NamedGradient& tensor : gradients.named()) {
    const std::vector<float> expected = golden(std::string(tensor.name));
    if (tensor.name.ends_with("c_attn.bias")) {
      // Every key moved alike changes no share, so the gradient of their bias is 0 but for rounding.
      EXPECT_LT(
          testing::distance(std::span(expected).first(each().config.dim), tensor.numbers.first(each().config.dim)),
          1e-5)
          << tensor.name;
      EXPECT_LT(testing::distance(std::span(expected).last(each().config.dim), tensor.numbers.last(each().config.dim)),
                1e-5)
          << tensor.name;
    }
    EXPECT_LT(testing::distance(expected, tensor.numbers), 1e-5) << tensor.name;
  }
}

TEST_P(GptNetworkGolden, LearnsAsPyTorchDoes) {
  GptParameters parameters = testing::golden_parameters(each().config);
  GptNetwork network(parameters, each().batch, options(1));
  GptAdamW optimizer(parameters, AdamW{.lr = 1e-2, .weight_decay = 0.1});
  const std::vector<float> expected = golden("losses");
  ASSERT_EQ(expected.size(), 10U);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    const testing::GoldenBatch batch = testing::golden_batch(each(), static_cast<std::int64_t>(step));
    const double loss = network.train_step(batch.ids, batch.targets, optimizer);
    EXPECT_NEAR(loss, expected[step], 2e-5 * expected[step]) << "step " << step;
  }
}

std::vector<std::int64_t> plain_and_every_target() {
  std::vector<std::int64_t> each = testing::every_target();
  each.push_back(0);
  return each;
}

INSTANTIATE_TEST_SUITE_P(Each, GptNetworkGolden,
                         ::testing::Combine(::testing::ValuesIn(testing::golden_networks()),
                                            ::testing::ValuesIn(plain_and_every_target())),
                         [](const auto& each) {
                           const std::int64_t target = std::get<1>(each.param);
                           return std::get<0>(each.param).name + "_" +
                                  (target == 0 ? "plain" : hwy::TargetName(target));
                         });

}  // namespace
}  // namespace firstlayer
