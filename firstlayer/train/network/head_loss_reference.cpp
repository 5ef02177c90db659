#include <algorithm>
#include <cmath>
#include <vector>

#include "firstlayer/train/network/head_loss.h"

namespace firstlayer {
namespace {

float logit(ConstPanels x, const float* weight, std::size_t row, std::size_t v) {
  float sum = 0;
  for (std::size_t f = 0; f < x.features; ++f) sum += x(row, f) * weight[v * x.features + f];
  return sum;
}

/// d loss / d logit of token v.
float dlogit(const HeadLoss& job, std::size_t row, std::size_t v, float its_logit) {
  if (job.targets[row] == kNoTarget) return 0;
  const float share = std::exp(its_logit - job.log_sums[row]);
  return (share - (job.targets[row] == static_cast<std::int64_t>(v) ? 1.0F : 0.0F)) * job.gradient_scale;
}

}  // namespace

void head_loss_reference(const HeadLoss& job) {
  const std::size_t d = job.x.features;
  std::vector<float> logits(job.vocabulary);
  for (std::size_t r = 0; r < job.x.rows(); ++r) {
    for (std::size_t v = 0; v < job.vocabulary; ++v) logits[v] = logit(job.x, job.weight, r, v);
    const float largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float each : logits) sum += std::exp(each - largest);
    job.log_sums[r] = largest + static_cast<float>(std::log(sum));
    job.target_logits[r] = job.targets[r] == kNoTarget ? 0 : logits[static_cast<std::size_t>(job.targets[r])];
    if (job.dx.data == nullptr) continue;
    for (std::size_t f = 0; f < d; ++f) job.dx(r, f) = 0;
    for (std::size_t v = 0; v < job.vocabulary; ++v) {
      const float share = dlogit(job, r, v, logits[v]);
      for (std::size_t f = 0; f < d; ++f) job.dx(r, f) += share * job.weight[v * d + f];
    }
  }
}

void head_weight_gradient_reference(const HeadWeightGradient& job) {
  const HeadLoss& forward = job.forward;
  const std::size_t d = forward.x.features;
  std::vector<float> sums(d);
  std::size_t next = 0;  // row of `more`
  for (std::size_t v = 0; v < forward.vocabulary; ++v) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::size_t r = 0; r < forward.x.rows(); ++r) {
      const float share = dlogit(forward, r, v, logit(forward.x, forward.weight, r, v));
      for (std::size_t f = 0; f < d; ++f) sums[f] += share * forward.x(r, f);
    }
    if (job.more != nullptr && next < job.more->ids().size() && job.more->ids()[next] == v) {
      for (std::size_t f = 0; f < d; ++f) sums[f] += job.more->rows()(next, f);
      ++next;
    }
    job.sink->take(job.tensor, v * d, sums);
  }
}

void head_logits_reference(const HeadLogits& job) {
  for (std::size_t r = 0; r < job.count; ++r) {
    for (std::size_t v = 0; v < job.vocabulary; ++v) {
      job.logits[r * job.vocabulary + v] = logit(job.x, job.weight, r, v);
    }
  }
}

}  // namespace firstlayer
