#include <vector>

#include "firstlayer/train/network/linear.h"

namespace firstlayer {

void linear_reference(const Linear& job) {
  const std::size_t K = job.x.features;
  const std::size_t N = job.y.features;
  for (std::size_t r = 0; r < job.y.rows(); ++r) {
    for (std::size_t n = 0; n < N; ++n) {
      float sum = job.bias[n];
      if (job.residual.data != nullptr) sum += job.residual(r, n);
      for (std::size_t k = 0; k < K; ++k) sum += job.x(r, k) * job.weight[k * N + n];
      job.y(r, n) = sum;
    }
  }
}

void linear_input_gradient_reference(const LinearInputGradient& job) {
  const std::size_t K = job.dx.features;
  const std::size_t N = job.dy.features;
  for (std::size_t r = 0; r < job.dy.rows(); ++r) {
    for (std::size_t k = 0; k < K; ++k) {
      float sum = 0;
      for (std::size_t n = 0; n < N; ++n) sum += job.dy(r, n) * job.weight[k * N + n];
      job.dx(r, k) = sum;
    }
  }
}

void linear_weight_gradient_reference(const LinearWeightGradient& job) {
  const std::size_t N = job.dy.features;
  std::vector<float> sums(N);
  for (std::size_t k = 0; k < job.x.features; ++k) {
    for (std::size_t n = 0; n < N; ++n) {
      sums[n] = 0;
      for (std::size_t r = 0; r < job.x.rows(); ++r) sums[n] += job.x(r, k) * job.dy(r, n);
    }
    job.sink->take(job.weight_tensor, k * N, sums);
  }
  for (std::size_t n = 0; n < N; ++n) {
    sums[n] = 0;
    for (std::size_t r = 0; r < job.dy.rows(); ++r) sums[n] += job.dy(r, n);
  }
  job.sink->take(job.bias_tensor, 0, sums);
}

}  // namespace firstlayer
