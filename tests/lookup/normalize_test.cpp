#include "firstlayer/lookup/normalize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/lookup/golden.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::GoldenCase;
using testing::message_of;

/// PyTorch sums in float and in an order of its own.
TEST(Normalize, IsNearTorchForwardAndBack) {
  for (GoldenCase& golden : testing::golden_cases("norm")) {
    SCOPED_TRACE(golden.name());
    Normalization normalization;
    normalization.kind = golden.word() == "layer" ? Normalization::Kind::kLayer : Normalization::Kind::kRms;
    const auto dim = static_cast<std::size_t>(golden.number());
    normalization.eps = golden.number();
    Generator generator(dim);
    Tensor<float, 3> x({1, 2, dim});
    Tensor<float, 3> dout({1, 2, dim});
    generator.fill_normal(x.flat());
    generator.fill_normal(dout.flat());
    for (float& value : x.flat()) value = 3 * value + 1;

    const std::vector<float> out = golden.floats(2 * dim);
    const std::vector<float> dx = golden.floats(2 * dim);
    for (unsigned threads : {1U, 2U}) {
      Tensor<float, 3> received({1, 2, dim});
      normalize(normalization, x, received, threads);
      testing::expect_near(out, received.flat(), 1e-6);
      normalize_gradient(normalization, x, dout, received, threads);
      testing::expect_near(dx, received.flat(), 2e-6);
    }
  }
}

/// Finite differences of the norm in double, where they are exact to 1e-6 or so.
TEST(Normalize, HasTheGradientThatFiniteDifferencesShow) {
  const std::vector<double> x = {0.5, -1.5, 2.0, 0.25, -0.75};
  const std::vector<double> dout = {1.0, -0.5, 0.25, 2.0, -1.0};
  for (auto kind : {Normalization::Kind::kLayer, Normalization::Kind::kRms}) {
    const auto loss = [&](const std::vector<double>& at) {
      double mean = 0.0;
      for (double value : at) mean += kind == Normalization::Kind::kLayer ? value / 5 : 0.0;
      double square = 0.0;
      for (double value : at) square += (value - mean) * (value - mean) / 5;
      double sum = 0.0;
      for (std::size_t k = 0; k < 5; ++k) sum += dout[k] * (at[k] - mean) / std::sqrt(square + 1e-3);
      return sum;
    };
    const std::vector<float> values(x.begin(), x.end());
    const std::vector<float> gradients(dout.begin(), dout.end());
    Tensor<float, 3> dx({1, 1, 5});
    normalize_gradient({kind, 1e-3}, {values, {1, 1, 5}}, {gradients, {1, 1, 5}}, dx);
    for (std::size_t k = 0; k < 5; ++k) {
      constexpr double kStep = 1e-5;
      std::vector<double> up = x;
      std::vector<double> down = x;
      up[k] += kStep;
      down[k] -= kStep;
      EXPECT_NEAR(dx.flat()[k], (loss(up) - loss(down)) / (2 * kStep), 1e-6) << k;
    }
  }
}

TEST(Normalize, WorksInPlace) {
  Generator generator(4);
  Tensor<float, 3> x({2, 3, 37});
  generator.fill_normal(x.flat());
  Tensor<float, 3> out({2, 3, 37});
  normalize({}, x, out);
  normalize({}, x, x);
  EXPECT_EQ(difference(out.flat(), x.flat()), "");
}

TEST(Normalize, RefusesWhatDoesNotFit) {
  Tensor<float, 3> x({1, 2, 3});
  Tensor<float, 3> other({1, 2, 4});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { normalize({}, x, other); }),
            "[normalize] expected tensors of one shape (1, 2, 3), received (1, 2, 4)");
  EXPECT_THROW(normalize_gradient({}, x, other, x), std::invalid_argument);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { normalize({.eps = -1.0}, x, x); }),
            "[normalize] expected a finite eps of 0 or more, received -1.000000");
  EXPECT_THROW(normalize({.eps = std::numeric_limits<double>::infinity()}, x, x), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
