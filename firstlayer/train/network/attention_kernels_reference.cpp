#include <algorithm>
#include <cmath>

#include "firstlayer/train/network/attention_kernels.h"

namespace firstlayer {
namespace {

bool sees(const ScoreRule& rule, std::size_t query, std::size_t key) { return !rule.diagonal() || key <= query; }

float score(const ScoreRule& rule, float product, std::size_t query, std::size_t key) {
  const float distance = rule.distance + static_cast<float>(key) - static_cast<float>(query);
  return product * rule.scale + rule.slope * distance;
}

}  // namespace

void softmax_tile_reference(const SoftmaxTile& job) {
  for (std::size_t query = 0; query < kPanelRows; ++query) {
    const auto at = [&](std::size_t key) -> float& { return job.tile[key * kPanelRows + query]; };
    float largest = job.largest[query];
    for (std::size_t key = 0; key < kPanelRows; ++key) {
      at(key) = score(job.rule, at(key), query, key);
      if (sees(job.rule, query, key)) largest = std::max(largest, at(key));
    }
    job.factors[query] = std::exp(job.largest[query] - largest);
    job.largest[query] = largest;
    float sum = 0;
    for (std::size_t key = 0; key < kPanelRows; ++key) {
      at(key) = sees(job.rule, query, key) ? std::exp(at(key) - largest) : 0.0F;
      sum += at(key);
    }
    job.sums[query] = job.sums[query] * job.factors[query] + sum;
  }
}

void softmax_gradient_tile_reference(const SoftmaxGradientTile& job) {
  for (std::size_t query = 0; query < kPanelRows; ++query) {
    for (std::size_t key = 0; key < kPanelRows; ++key) {
      float& share = job.shares[key * kPanelRows + query];
      float& gradient = job.gradients[key * kPanelRows + query];
      share = sees(job.rule, query, key) ? std::exp(score(job.rule, share, query, key) - job.log_sums[query]) : 0.0F;
      gradient = share * (gradient - job.means[query]) * job.rule.scale;
    }
  }
}

}  // namespace firstlayer
