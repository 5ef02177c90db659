#include "firstlayer/train/network/causal_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firstlayer/lookup/position/alibi.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

constexpr unsigned kMostThreads = 4;

/// Attention over random queries, keys and values.
struct Attention {
  /// shape is (batch, length, heads, width of a head).
  Attention(const Shape<4>& shape, bool alibi, Generator& generator)
      : batch(shape[0]),
        length(shape[1]),
        heads(shape[2]),
        qkv(batch * length, 3 * heads * shape[3], generator),
        dout(batch * length, heads * shape[3], generator),
        out(batch * length, heads * shape[3]),
        dqkv(batch * length, 3 * heads * shape[3]),
        log_sums(batch * heads * length),
        scratch({kMostThreads * causal_attention_scratch(length, shape[3])}) {
    if (alibi) slopes = alibi_slopes(heads);
  }

  CausalAttention forward(unsigned threads) {
    return {qkv,
            batch,
            length,
            heads,
            slopes.empty() ? nullptr : slopes.data(),
            out,
            log_sums.data(),
            scratch.flat().data(),
            threads};
  }
  CausalAttentionGradient backward(unsigned threads) { return {forward(threads), dout, dqkv}; }

  std::size_t batch, length, heads;
  testing::OwnedPanels qkv, dout, out, dqkv;
  std::vector<float> log_sums, slopes;
  Tensor<float, 1> scratch;
};

std::vector<float> copy_of(std::span<const float> numbers) { return {numbers.begin(), numbers.end()}; }

TEST(CausalAttention, WeighsValuesOfThePast) {
  Generator generator(1);
  for (const auto& compute : {causal_attention, causal_attention_reference}) {
    Attention attention({1, 2, 1, 1}, false, generator);
    const float rows[2][3] = {{1, 2, 10}, {3, 1, 20}};  // query, key, value
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t i = 0; i < 3; ++i) attention.qkv.view()(t, i) = rows[t][i];
    }
    compute(attention.forward(1));
    EXPECT_NEAR(attention.out.view()(0, 0), 10, 1e-5) << "the first place sees itself alone";
    EXPECT_NEAR(attention.log_sums[0], 2, 1e-6);
    const double first = std::exp(6.0);
    const double second = std::exp(3.0);
    EXPECT_NEAR(attention.out.view()(1, 0), (10 * first + 20 * second) / (first + second), 1e-5);
    EXPECT_NEAR(attention.log_sums[1], std::log(first + second), 1e-6);
  }
}

TEST(CausalAttention, WithAlibiPrefersWhatIsNear) {
  Generator generator(1);
  for (const auto& compute : {causal_attention, causal_attention_reference}) {
    Attention attention({1, 2, 1, 1}, true, generator);
    ASSERT_EQ(attention.slopes, std::vector<float>{1.0F / 256});
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t i = 0; i < 3; ++i) attention.qkv.view()(t, i) = i == 2 ? static_cast<float>(t) : 0;
    }
    compute(attention.forward(1));
    EXPECT_NEAR(attention.out.view()(1, 0), 1 / (1 + std::exp(-1.0 / 256)), 1e-6);
  }
}

TEST(CausalAttention, EqualsTheReferenceOnRandomShapes) {
  Generator generator(2);
  const Shape<4> shapes[] = {{1, 1, 1, 1}, {3, 5, 2, 4}, {2, 32, 3, 16}, {2, 33, 1, 7}, {3, 70, 2, 24}};
  for (const Shape<4>& shape : shapes) {
    for (const bool alibi : {false, true}) {
      SCOPED_TRACE(shape_text(shape) + (alibi ? " with ALiBi" : ""));
      Attention attention(shape, alibi, generator);
      causal_attention_reference(attention.forward(1));
      const std::vector<float> out = copy_of(attention.out.flat());
      const std::vector<float> log_sums = attention.log_sums;
      causal_attention_gradient_reference(attention.backward(1));
      const std::vector<float> dqkv = copy_of(attention.dqkv.flat());

      std::ranges::fill(attention.dqkv.flat(), NAN);  // also the rows that fill up the last panel must be written
      causal_attention(attention.forward(kMostThreads));
      causal_attention_gradient(attention.backward(kMostThreads));
      EXPECT_LT(testing::distance(out, attention.out.flat()), 2e-6);
      EXPECT_LT(testing::distance(log_sums, attention.log_sums), 1e-6);
      if (shape[1] > 1) {
        EXPECT_LT(testing::distance(dqkv, attention.dqkv.flat()), 5e-6);
      }
    }
  }
}

TEST(CausalAttention, HasTheSameBitsOnAnyNumberOfThreads) {
  Generator generator(3);
  Attention attention({3, 45, 2, 8}, true, generator);
  causal_attention(attention.forward(1));
  causal_attention_gradient(attention.backward(1));
  const std::vector<float> out = copy_of(attention.out.flat());
  const std::vector<float> dqkv = copy_of(attention.dqkv.flat());
  causal_attention(attention.forward(3));
  causal_attention_gradient(attention.backward(3));
  EXPECT_EQ(testing::difference(out, attention.out.flat()), "");
  EXPECT_EQ(testing::difference(dqkv, attention.dqkv.flat()), "");
}

TEST(CausalAttention, DoesNotSeeTheFuture) {
  Generator generator(4);
  Attention attention({1, 40, 2, 4}, false, generator);
  causal_attention(attention.forward(1));
  const std::vector<float> before = copy_of(attention.out.flat());
  for (std::size_t f = 0; f < 24; ++f) attention.qkv.view()(39, f) = 100;
  causal_attention(attention.forward(1));
  const ConstPanels out = attention.out;
  const ConstPanels old = {before.data(), out.count, out.features};
  for (std::size_t t = 0; t < 39; ++t) {
    for (std::size_t f = 0; f < 8; ++f) ASSERT_EQ(old(t, f), out(t, f)) << t;
  }
  EXPECT_NE(old(39, 0), out(39, 0));
}

TEST(CausalAttention, GradientIsFiniteDifferences) {
  Generator generator(5);
  Attention attention({2, 4, 2, 3}, true, generator);
  causal_attention_reference(attention.forward(1));
  causal_attention_gradient_reference(attention.backward(1));
  testing::expect_finite_differences(attention.qkv.flat(), attention.dqkv.flat(), [&] {
    causal_attention_reference(attention.forward(1));
    return testing::weighted_sum(attention.out.flat(), attention.dout.flat());
  });
}

}  // namespace
}  // namespace firstlayer
