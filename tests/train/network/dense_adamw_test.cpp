#include "firstlayer/train/network/dense_adamw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "firstlayer/lookup/optimizer/adamw_kernels.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

/// Parameters and moments under AdamW.
struct State {
  explicit State(std::size_t count) : p(count, 0.5F), m(count), v(count) {}

  DenseAdamW job(std::span<const float> gradient) { return {p.data(), m.data(), v.data(), gradient.data(), p.size()}; }

  std::vector<float> p, m, v;
};

TEST(DenseAdamW, IsTheStepOfATable) {
  Generator generator(1);
  const AdamWRule rule(AdamW{.lr = 0.01, .weight_decay = 0.1});
  State state(100);
  State expected(100);
  for (std::uint64_t t = 1; t <= 5; ++t) {
    const auto gradient = testing::random_numbers(100, generator);
    const AdamWStep step(rule, 0.01, t);
    EXPECT_TRUE(dense_adamw_reference(rule, step, state.job(gradient.flat())));
    adamw_kernels::step_reference(rule, step, expected.p.data(), expected.m.data(), expected.v.data(),
                                  gradient.flat().data(), 100);
  }
  EXPECT_EQ(testing::difference(expected.p, state.p), "");
  EXPECT_EQ(testing::difference(expected.m, state.m), "");
  EXPECT_EQ(testing::difference(expected.v, state.v), "");
}

class DenseAdamWKernel : public testing::OnTarget {};

TEST_P(DenseAdamWKernel, EqualsTheReferenceToTheBit) {
  Generator generator(2);
  for (const std::size_t count : {1U, 7U, 16U, 31U, 1000U}) {
    const AdamWRule rule(AdamW{.lr = 0.01, .weight_decay = 0.1});
    State expected(count);
    State received(count);
    for (std::uint64_t t = 1; t <= 20; ++t) {
      auto gradient = testing::random_numbers(count, generator, t % 3 == 0 ? 1e-12 : 1e3);
      if (t == 5) std::ranges::fill(gradient.flat(), 0.0F);
      if (t == 7) gradient.flat()[count / 2] = 1e19F;
      const AdamWStep step(rule, 0.01, t);
      EXPECT_TRUE(dense_adamw_reference(rule, step, expected.job(gradient.flat())));
      EXPECT_TRUE(dense_adamw(rule, step, received.job(gradient.flat())));
      ASSERT_EQ(testing::difference(expected.p, received.p), "") << "step " << t;
      ASSERT_EQ(testing::difference(expected.m, received.m), "") << "step " << t;
      ASSERT_EQ(testing::difference(expected.v, received.v), "") << "step " << t;
    }
  }
}

TEST_P(DenseAdamWKernel, MultipliesTheGradientFirst) {
  Generator generator(3);
  const AdamWRule rule(AdamW{.lr = 0.01});
  const AdamWStep step(rule, 0.01, 1);
  auto gradient = testing::random_numbers(37, generator);
  State expected(37);
  State reference(37);
  State received(37);
  DenseAdamW by_reference = reference.job(gradient.flat());
  DenseAdamW by_kernel = received.job(gradient.flat());
  by_reference.factor = by_kernel.factor = 0.3F;
  EXPECT_TRUE(dense_adamw_reference(rule, step, by_reference));
  EXPECT_TRUE(dense_adamw(rule, step, by_kernel));
  for (float& g : gradient.flat()) g *= 0.3F;
  EXPECT_TRUE(dense_adamw_reference(rule, step, expected.job(gradient.flat())));
  EXPECT_EQ(testing::difference(expected.p, reference.p), "");
  EXPECT_EQ(testing::difference(expected.v, reference.v), "");
  EXPECT_EQ(testing::difference(expected.p, received.p), "");
  EXPECT_EQ(testing::difference(expected.v, received.v), "");
}

TEST_P(DenseAdamWKernel, TakesZeroForWhatIsNotFinite) {
  const AdamWRule rule(AdamW{.lr = 0.01});
  const AdamWStep step(rule, 0.01, 1);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t place : {0U, 36U}) {
      std::vector<float> gradient(37, 1.0F);
      State expected(37);
      State received(37);
      gradient[place] = 0;
      EXPECT_TRUE(dense_adamw(rule, step, expected.job(gradient)));
      gradient[place] = bad;
      EXPECT_FALSE(dense_adamw(rule, step, received.job(gradient)));
      EXPECT_EQ(testing::difference(expected.p, received.p), "");
      EXPECT_EQ(testing::difference(expected.v, received.v), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, DenseAdamWKernel, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
