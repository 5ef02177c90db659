#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "firstlayer/train/skip_gram_kernels.h"
#include "firstlayer/train/skip_gram_margin.h"

namespace firstlayer::skip_gram {
namespace {

/// Lane j has the products of columns j, j + 16, ...; neighbours are added until one is left.
float dot_reference(const float* u, const float* v, std::size_t count) {
  std::array<float, kLanes> lanes{};
  for (std::size_t k = 0; k < count; ++k) lanes[k % kLanes] = std::fma(u[k], v[k], lanes[k % kLanes]);
  for (std::size_t left = kLanes / 2; left > 0; left /= 2) {
    for (std::size_t j = 0; j < left; ++j) lanes[j] = lanes[2 * j] + lanes[2 * j + 1];
  }
  return lanes[0];
}

template <std::size_t kCount>
float polynomial(const std::array<float, kCount>& series, float x) {
  float value = series[0];
  for (std::size_t i = 1; i < kCount; ++i) value = std::fma(value, x, series[i]);
  return value;
}

}  // namespace

Margin margin_reference(float y) {
  float magnitude = std::abs(y);
  magnitude = magnitude < kLargestMagnitude ? magnitude : kLargestMagnitude;
  const float halvings = std::rint(magnitude * kLog2E);
  const float rest = std::fma(-halvings, kLn2Low, std::fma(-halvings, kLn2High, magnitude));
  const auto scale = std::bit_cast<float>((127 - static_cast<std::int32_t>(halvings)) << 23);
  const float e = polynomial(kExpSeries, rest) * scale;  // exp(-|y|)
  const float z = e / (2.0F + e);
  return {.slope = (y > 0.0F ? e : 1.0F) / (1.0F + e),
          .loss = (y > 0.0F ? 0.0F : -y) + z * polynomial(kLogSeries, z * z)};
}

double run_reference(const Tables& tables, const StepList& list) {
  std::array<float, kLanes> losses{};
  const TokenId* rows = list.rows.data();
  for (const Step& step : list.steps) {
    float* v = tables.inputs + step.input * tables.stride;
    std::array<float, kMaxStepRows> g;
    for (std::size_t r = 0; r < step.rows(); ++r) {
      const float dot = dot_reference(tables.outputs + rows[r] * tables.stride, v, tables.stride);
      const bool positive = r < step.positives;
      const Margin margin = margin_reference(positive ? dot : -dot);
      g[r] = (positive ? step.rate : -step.rate) * margin.slope;
      losses[r % kLanes] += margin.loss;
    }
    for (std::size_t k = 0; k < tables.stride; ++k) {
      float sum = v[k];
      for (std::size_t r = 0; r < step.rows(); ++r) {
        float& u = tables.outputs[rows[r] * tables.stride + k];
        sum = std::fma(g[r], u, sum);
        u = std::fma(g[r], v[k], u);
      }
      v[k] = sum;
    }
    rows += step.rows();
  }
  double sum = 0.0;
  for (const float loss : losses) sum += loss;
  return sum;
}

double loss_of(const Tables& tables, const StepList& list) {
  double sum = 0.0;
  const TokenId* rows = list.rows.data();
  for (const Step& step : list.steps) {
    const float* v = tables.inputs + step.input * tables.stride;
    for (std::size_t r = 0; r < step.rows(); ++r) {
      const float* u = tables.outputs + rows[r] * tables.stride;
      double dot = 0.0;
      for (std::size_t k = 0; k < tables.stride; ++k) dot += static_cast<double>(u[k]) * v[k];
      const double y = r < step.positives ? dot : -dot;
      sum += (y > 0.0 ? 0.0 : -y) + std::log1p(std::exp(-std::abs(y)));
    }
    rows += step.rows();
  }
  return sum;
}

}  // namespace firstlayer::skip_gram
