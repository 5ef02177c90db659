#include <cmath>
#include <vector>

#include "firstlayer/train/network/layer_norm.h"

namespace firstlayer {

void layer_norm_reference(const LayerNorm& job) {
  const std::size_t d = job.x.features;
  const auto count = static_cast<float>(d);
  for (std::size_t r = 0; r < job.x.rows(); ++r) {
    float sum = 0;
    for (std::size_t f = 0; f < d; ++f) sum += job.x(r, f);
    const float mean = sum / count;
    float squares = 0;
    for (std::size_t f = 0; f < d; ++f) squares += (job.x(r, f) - mean) * (job.x(r, f) - mean);
    job.mean[r] = mean;
    job.scale[r] = 1 / std::sqrt(squares / count + job.eps);
  }
  layer_norm_again_reference(job);
}

void layer_norm_again_reference(const LayerNorm& job) {
  for (std::size_t r = 0; r < job.x.rows(); ++r) {
    for (std::size_t f = 0; f < job.x.features; ++f) {
      job.y(r, f) = (job.x(r, f) - job.mean[r]) * job.scale[r] * job.weight[f] + job.bias[f];
    }
  }
}

void layer_norm_gradient_reference(const LayerNormGradient& job) {
  const std::size_t d = job.x.features;
  const auto count = static_cast<float>(d);
  std::vector<float> dweight(d);
  std::vector<float> dbias(d);
  for (std::size_t r = 0; r < job.x.rows(); ++r) {
    const auto h = [&](std::size_t f) { return (job.x(r, f) - job.mean[r]) * job.scale[r]; };
    float mean_g = 0;
    float mean_gh = 0;
    for (std::size_t f = 0; f < d; ++f) {
      const float g = job.dy(r, f) * job.weight[f];
      mean_g += g / count;
      mean_gh += g * h(f) / count;
      dweight[f] += job.dy(r, f) * h(f);
      dbias[f] += job.dy(r, f);
    }
    for (std::size_t f = 0; f < d; ++f) {
      const float dx = job.scale[r] * (job.dy(r, f) * job.weight[f] - mean_g - h(f) * mean_gh);
      job.dx(r, f) = job.add ? job.dx(r, f) + dx : dx;
    }
  }
  job.sink->take(job.weight_tensor, 0, dweight);
  job.sink->take(job.weight_tensor + 1, 0, dbias);
}

}  // namespace firstlayer
