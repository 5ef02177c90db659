#include <algorithm>
#include <cmath>
#include <vector>

#include "firstlayer/train/network/causal_attention.h"

namespace firstlayer {
namespace {

/// One head of one row of the batch: where its numbers are, and its scores.
struct Head {
  const CausalAttention& job;
  std::size_t b;
  std::size_t head;
  std::size_t d = job.out.features;
  std::size_t width = d / job.heads;

  std::size_t row(std::size_t t) const { return b * job.length + t; }
  std::size_t query(std::size_t f) const { return head * width + f; }
  std::size_t key(std::size_t f) const { return d + head * width + f; }
  std::size_t value(std::size_t f) const { return 2 * d + head * width + f; }
  float& log_sum(std::size_t t) const { return job.log_sums[(b * job.heads + head) * job.length + t]; }

  float score(std::size_t i, std::size_t j) const {
    float sum = 0;
    for (std::size_t f = 0; f < width; ++f) sum += job.qkv(row(i), query(f)) * job.qkv(row(j), key(f));
    sum /= std::sqrt(static_cast<float>(width));
    if (job.slopes != nullptr) sum += job.slopes[head] * (static_cast<float>(j) - static_cast<float>(i));
    return sum;
  }
};

template <class Body>
void for_heads(const CausalAttention& job, const Body& body) {
  for (std::size_t b = 0; b < job.batch; ++b) {
    for (std::size_t head = 0; head < job.heads; ++head) body(Head{job, b, head});
  }
}

}  // namespace

void causal_attention_reference(const CausalAttention& job) {
  std::vector<float> shares(job.length);
  for_heads(job, [&](const Head& at) {
    for (std::size_t i = 0; i < job.length; ++i) {
      for (std::size_t j = 0; j <= i; ++j) shares[j] = at.score(i, j);
      const float largest = *std::max_element(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      float sum = 0;
      for (std::size_t j = 0; j <= i; ++j) sum += std::exp(shares[j] - largest);
      at.log_sum(i) = largest + std::log(sum);
      for (std::size_t f = 0; f < at.width; ++f) {
        float out = 0;
        for (std::size_t j = 0; j <= i; ++j) {
          out += std::exp(shares[j] - at.log_sum(i)) * job.qkv(at.row(j), at.value(f));
        }
        job.out(at.row(i), at.query(f)) = out;
      }
    }
  });
  clear_rows_from(job.batch * job.length, job.out);
}

void causal_attention_gradient_reference(const CausalAttentionGradient& job) {
  const CausalAttention& forward = job.forward;
  std::fill(job.dqkv.data, job.dqkv.data + job.dqkv.size(), 0.0F);
  for_heads(forward, [&](const Head& at) {
    const float scale = 1 / std::sqrt(static_cast<float>(at.width));
    for (std::size_t i = 0; i < forward.length; ++i) {
      const auto dout = [&](std::size_t f) { return job.dout(at.row(i), at.query(f)); };
      float mean = 0;  // of the gradients of the shares, weighed by the shares
      for (std::size_t f = 0; f < at.width; ++f) mean += dout(f) * forward.out(at.row(i), at.query(f));
      for (std::size_t j = 0; j <= i; ++j) {
        const float share = std::exp(at.score(i, j) - at.log_sum(i));
        float dshare = 0;
        for (std::size_t f = 0; f < at.width; ++f) dshare += dout(f) * forward.qkv(at.row(j), at.value(f));
        const float dscore = share * (dshare - mean) * scale;
        for (std::size_t f = 0; f < at.width; ++f) {
          job.dqkv(at.row(j), at.value(f)) += share * dout(f);
          job.dqkv(at.row(i), at.query(f)) += dscore * forward.qkv(at.row(j), at.key(f));
          job.dqkv(at.row(j), at.key(f)) += dscore * forward.qkv(at.row(i), at.query(f));
        }
      }
    }
  });
}

}  // namespace firstlayer
