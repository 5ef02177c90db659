#include "firstlayer/view/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace firstlayer {
namespace {

Tensor<float, 2> matrix(const Shape<2>& shape, const std::vector<float>& values) {
  Tensor<float, 2> out(shape);
  std::copy(values.begin(), values.end(), out.flat().begin());
  return out;
}

TEST(Project, MultipliesRowsWithColumns) {
  const Tensor<double, 2> out = project(matrix({2, 2}, {1, 2, 3, 4}), matrix({2, 3}, {1, 0, 2, 0, 1, -1}));
  EXPECT_EQ(out.shape(), (Shape<2>{2, 3}));
  EXPECT_EQ(std::vector<double>(out.flat().begin(), out.flat().end()), (std::vector<double>{1, 2, 0, 3, 4, 2}));
}

TEST(Project, RefusesAnotherWidth) {
  EXPECT_THROW(project(matrix({1, 2}, {1, 2}), matrix({3, 1}, {1, 2, 3})), std::invalid_argument);
}

TEST(SelfAttention, WeighsValuesByTheSoftmaxOfScores) {
  // Identities as projections: the scores of x[0] are 1 / sqrt(2) with itself and 0 with x[1].
  const AttentionWeights weights{matrix({2, 2}, {1, 0, 0, 1}), matrix({2, 2}, {1, 0, 0, 1}),
                                 matrix({2, 2}, {1, 0, 0, 1})};
  const Tensor<double, 2> out = self_attention(matrix({2, 2}, {1, 0, 0, 1}), weights);
  const double own = std::exp(1 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(out.view()(0, 0), own / (own + 1));
  EXPECT_DOUBLE_EQ(out.view()(0, 1), 1 / (own + 1));
  EXPECT_DOUBLE_EQ(out.view()(1, 0), 1 / (own + 1));
  EXPECT_DOUBLE_EQ(out.view()(1, 1), own / (own + 1));
}

TEST(SelfAttention, LargeScoresStayFinite) {
  const AttentionWeights weights{matrix({1, 1}, {1e15F}), matrix({1, 1}, {1e15F}), matrix({1, 1}, {1})};
  const Tensor<double, 2> out = self_attention(matrix({2, 1}, {1, 2}), weights);
  EXPECT_EQ(std::vector<double>(out.flat().begin(), out.flat().end()), (std::vector<double>{2, 2}));
}

TEST(RandomAttention, DrawsThreeDifferentProjections) {
  Generator generator(1);
  const AttentionWeights weights = random_attention(64, 32, generator);
  EXPECT_EQ(weights.query.shape(), (Shape<2>{64, 32}));
  EXPECT_EQ(weights.key.shape(), (Shape<2>{64, 32}));
  EXPECT_EQ(weights.value.shape(), (Shape<2>{64, 32}));
  EXPECT_NE(weights.query.flat()[0], weights.key.flat()[0]);
  EXPECT_NE(weights.key.flat()[0], weights.value.flat()[0]);
  double squares = 0;
  for (const float value : weights.query.flat()) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(squares / (64 * 32), 1.0 / 64, 0.1 / 64);
  EXPECT_THROW(random_attention(0, 1, generator), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
