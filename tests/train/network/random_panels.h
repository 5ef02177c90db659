#pragma once
// Numbers for the tests of the network's parts: random panels, gradients as they are given away, and how far two
// results are apart.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/train/network/gradient_sink.h"
#include "firstlayer/train/network/panels.h"

namespace firstlayer::testing {

/// N(0, 1), aligned as the kernels want it.
inline Tensor<float, 1> random_numbers(std::size_t count, Generator& generator, double std = 1.0) {
  Tensor<float, 1> numbers({count});
  generator.fill_normal(numbers.flat(), 0.0, std);
  return numbers;
}

/// Panels that own their numbers; rows from `rows` on are 0.
class OwnedPanels {
 public:
  OwnedPanels(std::size_t rows, std::size_t features)
      : numbers_({panels_for(rows) * kPanelRows * features}), features_(features) {}
  OwnedPanels(std::size_t rows, std::size_t features, Generator& generator, double std = 1.0)
      : OwnedPanels(rows, features) {
    generator.fill_normal(numbers_.flat(), 0.0, std);
    clear_rows_from(rows, view());
  }

  Panels view() { return {numbers_.flat().data(), numbers_.size() / kPanelRows / features_, features_}; }
  operator Panels() { return view(); }
  operator ConstPanels() { return view(); }
  std::span<float> flat() { return numbers_.flat(); }

 private:
  Tensor<float, 1> numbers_;
  std::size_t features_;
};

/// Keeps what it is given. Each number must come once.
class KeepingSink : public GradientSink {
 public:
  void take(std::size_t tensor, std::size_t offset, std::span<const float> numbers) override {
    const std::lock_guard lock(mutex_);
    std::vector<float>& all = tensors_[tensor];
    if (all.size() < offset + numbers.size()) all.resize(offset + numbers.size(), NAN);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_TRUE(std::isnan(all[offset + i])) << "tensor " << tensor << ", number " << offset + i << " comes twice";
      all[offset + i] = numbers[i];
    }
  }

  const std::vector<float>& operator[](std::size_t tensor) { return tensors_[tensor]; }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<float>> tensors_;
};

/// |received - expected| / |expected| in the Euclidean norm: 0 if both are 0, infinite for NaN or another size.
inline double distance(std::span<const float> expected, std::span<const float> received) {
  if (expected.size() != received.size()) return INFINITY;
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = static_cast<double>(received[i]) - static_cast<double>(expected[i]);
    error += e * e;
    norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  if (std::isnan(error) || std::isnan(norm)) return INFINITY;
  if (error == 0) return 0;
  return norm == 0 ? INFINITY : std::sqrt(error / norm);
}

/// Compares a gradient with (f(x + h) - f(x - h)) / 2h for every number of `x`, or for every `step`th. `loss` gives
/// f() of what x holds.
template <class Loss>
void expect_finite_differences(std::span<float> x, std::span<const float> gradient, const Loss& loss,
                               std::size_t step = 1, double tolerance = 2e-3, float h = 0.01F) {
  ASSERT_EQ(x.size(), gradient.size());
  double largest = 1e-3;
  for (const float g : gradient) largest = std::max(largest, std::abs(static_cast<double>(g)));
  for (std::size_t i = 0; i < x.size(); i += step) {
    const float kept = x[i];
    x[i] = kept + h;
    const double above = loss();
    const float high = x[i];
    x[i] = kept - h;
    const double below = loss();
    const double width = static_cast<double>(high) - static_cast<double>(x[i]);
    x[i] = kept;
    EXPECT_NEAR((above - below) / width, gradient[i], tolerance * largest) << "at " << i;
  }
}

/// sum of x * weights, in double.
inline double weighted_sum(std::span<const float> x, std::span<const float> weights) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * static_cast<double>(weights[i]);
  return sum;
}

}  // namespace firstlayer::testing
