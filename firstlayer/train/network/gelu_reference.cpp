#include <cmath>

#include "firstlayer/train/network/gelu.h"

namespace firstlayer {
namespace {

constexpr float kRoot = 0.7978845608F;  // sqrt(2 / pi)
constexpr float kCube = 0.044715F;

float tanh_of(float x) { return std::tanh(kRoot * (x + kCube * x * x * x)); }

}  // namespace

void gelu_reference(const Gelu& job) {
  for (std::size_t i = 0; i < job.count; ++i) job.y[i] = job.x[i] / 2 * (1 + tanh_of(job.x[i]));
}

void gelu_gradient_reference(const GeluGradient& job) {
  for (std::size_t i = 0; i < job.count; ++i) {
    const float x = job.x[i];
    const float tanh = tanh_of(x);
    const float slope = kRoot * (1 + 3 * kCube * x * x);
    job.y[i] = x / 2 * (1 + tanh);
    job.dx[i] = job.dy[i] * ((1 + tanh) / 2 + x / 2 * (1 - tanh * tanh) * slope);
  }
}

}  // namespace firstlayer
