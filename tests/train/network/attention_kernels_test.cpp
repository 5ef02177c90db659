#include "firstlayer/train/network/attention_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/every_target.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

constexpr ScoreRule kRules[] = {{0.5F, 0, 0}, {0.5F, 0, -32}, {0.25F, 0.125F, 0}, {0.25F, 0.125F, -64}};

class AttentionKernels : public testing::OnTarget {};

TEST_P(AttentionKernels, EqualTheReferenceOfSoftmax) {
  Generator generator(1);
  for (const ScoreRule& rule : kRules) {
    auto expected = testing::random_numbers(kTileFloats, generator, 4.0);
    Tensor<float, 1> received(expected.shape());
    std::ranges::copy(expected.flat(), received.flat().begin());
    std::array<std::array<float, kPanelRows>, 3> plain;
    for (auto& each : plain) each.fill(0.5F);
    plain[0].fill(rule.diagonal() ? -20.0F : 1.0F);
    auto fast = plain;
    softmax_tile_reference({expected.flat().data(), rule, plain[0].data(), plain[1].data(), plain[2].data()});
    softmax_tile({received.flat().data(), rule, fast[0].data(), fast[1].data(), fast[2].data()});
    EXPECT_LT(testing::distance(expected.flat(), received.flat()), 1e-6);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(testing::distance(plain[i], fast[i]), 1e-6) << i;
    if (rule.diagonal()) {
      EXPECT_EQ(received.flat()[31 * kPanelRows + 30], 0) << "key 31 is after query 30";
    }
  }
}

TEST_P(AttentionKernels, EqualTheReferenceOfItsGradient) {
  Generator generator(2);
  for (const ScoreRule& rule : kRules) {
    auto shares = testing::random_numbers(kTileFloats, generator, 4.0);
    auto gradients = testing::random_numbers(kTileFloats, generator);
    const auto log_sums = testing::random_numbers(kPanelRows, generator);
    const auto means = testing::random_numbers(kPanelRows, generator);
    Tensor<float, 1> fast_shares(shares.shape()), fast_gradients(gradients.shape());
    std::ranges::copy(shares.flat(), fast_shares.flat().begin());
    std::ranges::copy(gradients.flat(), fast_gradients.flat().begin());
    softmax_gradient_tile_reference(
        {shares.flat().data(), gradients.flat().data(), rule, log_sums.flat().data(), means.flat().data()});
    softmax_gradient_tile(
        {fast_shares.flat().data(), fast_gradients.flat().data(), rule, log_sums.flat().data(), means.flat().data()});
    EXPECT_LT(testing::distance(shares.flat(), fast_shares.flat()), 1e-6);
    EXPECT_LT(testing::distance(gradients.flat(), fast_gradients.flat()), 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, AttentionKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
