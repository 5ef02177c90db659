#include "firstlayer/lookup/input_gradient.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/lookup/embedding_table.h"
#include "tests/lookup/golden.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::message_of;

std::string dense_hash(const RowGradient& gradient, const Shape<2>& table) {
  Tensor<float, 2> dense(table);
  add_rows(gradient, dense);
  return testing::sha256_of(dense.flat());
}

/// The gradients of the sums in input_embedding_test.cpp.
TEST(InputGradient, HasTheBitsOfTorchsAutogradUnderEveryOption) {
  constexpr EmbeddingSizes kSizes{.vocabulary = 50, .context = 40, .dim = 65};
  const std::vector<TokenId> ids = testing::golden_ids(60, kSizes.vocabulary);
  std::vector<std::int64_t> positions(ids.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i * 7 % kSizes.context);
  InputGradient gradient;
  for (testing::GoldenCase& golden : testing::golden_cases("sum")) {
    SCOPED_TRACE(golden.name());
    const std::string kind = golden.word();
    InputOptions options;
    if (kind == "offset") options.offset = 7;
    if (kind == "ids") options.positions = View<const std::int64_t, 2>(positions, {3, 20});
    options.scale = static_cast<float>(golden.number());
    const double p = golden.number();
    golden.word();  // of the output
    const std::string tokens_hash = golden.word();
    const std::string positions_hash = golden.word();

    Generator generator(77);
    const InputEmbedding layer(kSizes, generator);
    const DropoutMask mask(60 * kSizes.dim, p, generator);
    if (p > 0) options.dropout = &mask;
    Tensor<float, 3> dout({3, 20, kSizes.dim});
    generator.fill_normal(dout.flat());
    for (unsigned threads : {1U, 3U}) {
      gradient.assign(layer, {ids, {3, 20}}, dout, options, threads);
      EXPECT_EQ(dense_hash(gradient.tokens(), layer.token_table().shape()), tokens_hash) << threads << " threads";
      EXPECT_EQ(dense_hash(gradient.positions(), layer.position_table().shape()), positions_hash);
    }
  }
}

/// A layer of 5 ids, 3 positions and width 4, whose loss is the sum of weights times output.
class NormalizedLayer : public ::testing::TestWithParam<Normalization::Kind> {
 protected:
  NormalizedLayer() { generator_.fill_normal(weights_.flat()); }

  double loss() const {
    Tensor<float, 3> out(weights_.shape());
    layer_.forward({ids_, {2, 3}}, out, options());
    double sum = 0.0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += static_cast<double>(out.flat()[i]) * weights_.flat()[i];
    return sum;
  }

  InputOptions options() const { return {.scale = 2.0F, .normalization = Normalization{GetParam(), 0.1}}; }

  /// That of each number of the table, against the difference quotient.
  void expect_slopes(View<float, 2> table, const RowGradient& gradient) const {
    Tensor<float, 2> dense(table.shape());
    add_rows(gradient, dense);
    for (std::size_t i = 0; i < table.size(); ++i) {
      constexpr float kStep = 1.0F / 256;
      const float before = table.flat()[i];
      table.flat()[i] = before + kStep;
      const double up = loss();
      table.flat()[i] = before - kStep;
      const double down = loss();
      table.flat()[i] = before;
      EXPECT_NEAR(dense.flat()[i], (up - down) / (2 * kStep), 2e-3) << i;
    }
  }

  Generator generator_{8};
  InputEmbedding layer_{{.vocabulary = 5, .context = 3, .dim = 4}, generator_};
  const std::vector<TokenId> ids_ = {0, 2, 2, 4, 0, 2};
  Tensor<float, 3> weights_{{2, 3, 4}};
};

TEST_P(NormalizedLayer, HasTheGradientThatFiniteDifferencesShow) {
  InputGradient gradient;
  gradient.assign(layer_, {ids_, {2, 3}}, weights_, options());
  EXPECT_EQ(gradient.tokens().ids().size(), 3U);
  expect_slopes(layer_.mutable_token_table(), gradient.tokens());
  expect_slopes(layer_.mutable_position_table(), gradient.positions());
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, NormalizedLayer,
                         ::testing::Values(Normalization::Kind::kLayer, Normalization::Kind::kRms));

TEST(InputGradient, HasNoPositionsWithoutATable) {
  Generator generator(1);
  const InputEmbedding layer(random_table(4, 2, generator));
  const std::vector<TokenId> ids = {3, 3};
  const std::vector<float> dout = {1, 2, 4, 8};
  InputGradient gradient;
  gradient.assign(layer, {ids, {1, 2}}, {dout, {1, 2, 2}});
  EXPECT_EQ(difference(std::vector<float>{5, 10}, gradient.tokens().rows().flat()), "");
  EXPECT_TRUE(gradient.positions().ids().empty());
}

TEST(InputGradient, RefusesWhatDoesNotFit) {
  Generator generator(1);
  const InputEmbedding layer({.vocabulary = 4, .context = 2, .dim = 2}, generator);
  const std::vector<std::int64_t> ids = {3, -1};
  const std::vector<float> values(4);
  const View<const float, 3> dout(values, {1, 2, 2});
  InputGradient gradient;
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              gradient.assign(layer, View<const std::int64_t, 2>(ids, {1, 2}), dout);
            }),
            "[InputGradient] expected ids below V = 4, received -1 at (b=0, t=1)");
  const std::vector<TokenId> good = {3, 2};
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              gradient.assign(layer, {good, {1, 2}}, dout, {.positions = IdView(good, {1, 2})});
            }),
            "[InputGradient] expected positions below context = 2, received 3 at (b=0, t=0)");
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              gradient.assign(layer, {good, {1, 2}}, dout, {.offset = 1});
            }),
            "[InputGradient] expected at most context = 2 ids in a row, received T = 2 from offset = 1; "
            "truncate_rows() keeps the first of each row");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              gradient.assign(layer, {good, {2, 1}}, dout);
            }),
            "[InputGradient] expected dout of shape (B, T, d) = (2, 1, 2), received (1, 2, 2)");
}

}  // namespace
}  // namespace firstlayer
