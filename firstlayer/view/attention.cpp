#include "firstlayer/view/attention.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/embedding_table.h"

namespace firstlayer {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// The largest score is subtracted first, which cancels out and keeps exp() finite.
void softmax(std::span<double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

}  // namespace

AttentionWeights random_attention(std::size_t dim, std::size_t head, Generator& generator) {
  const double std = 1 / std::sqrt(static_cast<double>(dim));
  AttentionWeights weights;
  weights.query = random_table(dim, head, generator, std);
  weights.key = random_table(dim, head, generator, std);
  weights.value = random_table(dim, head, generator, std);
  return weights;
}

Tensor<double, 2> project(View<const float, 2> x, View<const float, 2> weight) {
  const auto [T, d] = x.shape();
  const std::size_t h = weight.dim(1);
  if (weight.dim(0) != d) {
    throw_invalid("project", "weights of shape (" + std::to_string(d) + ", h) for x " + shape_text(x.shape()),
                  shape_text(weight.shape()));
  }
  Tensor<double, 2> out({T, h});
  for (std::size_t t = 0; t < T; ++t) {
    const std::span<double> sums = out.view()[t];
    for (std::size_t k = 0; k < d; ++k) {
      const double value = x(t, k);
      for (std::size_t j = 0; j < h; ++j) sums[j] += value * static_cast<double>(weight(k, j));
    }
  }
  return out;
}

Tensor<double, 2> self_attention(View<const float, 2> x, const AttentionWeights& weights) {
  const Tensor<double, 2> queries = project(x, weights.query);
  const Tensor<double, 2> keys = project(x, weights.key);
  const Tensor<double, 2> values = project(x, weights.value);
  const std::size_t T = x.dim(0);
  const double root = std::sqrt(static_cast<double>(queries.dim(1)));

  Tensor<double, 2> out(values.shape());
  std::vector<double> shares(T);
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t s = 0; s < T; ++s) shares[s] = dot(queries.view()[t], keys.view()[s]) / root;
    softmax(shares);
    const std::span<double> sums = out.view()[t];
    for (std::size_t s = 0; s < T; ++s) {
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += shares[s] * values.view()(s, j);
    }
  }
  return out;
}

}  // namespace firstlayer
