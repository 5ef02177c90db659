#include "firstlayer/train/network/gelu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/every_target.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

TEST(Gelu, HasGpt2sValues) {
  const float x[] = {0, 1, -1, 3, -3, 20, -20};
  // 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) in float64
  const float expected[] = {0, 0.84119199F, -0.15880801F, 2.99636261F, -0.00363739F, 20, 0};
  float y[7];
  gelu_reference({x, y, 7, 1});
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(y[i], expected[i], 2e-7 * std::max(1.0F, std::abs(x[i]))) << x[i];
}

TEST(Gelu, GradientIsFiniteDifferences) {
  Generator generator(1);
  auto x = testing::random_numbers(64, generator);
  const auto dy = testing::random_numbers(64, generator);
  std::vector<float> y(64);
  std::vector<float> dx(64);
  gelu_gradient_reference({x.flat().data(), dy.flat().data(), dx.data(), y.data(), 64, 1});
  testing::expect_finite_differences(x.flat(), dx, [&] {
    gelu_reference({x.flat().data(), y.data(), 64, 1});
    return testing::weighted_sum(y, dy.flat());
  });
}

class GeluKernel : public testing::OnTarget {};

TEST_P(GeluKernel, EqualsTheReference) {
  Generator generator(2);
  const std::size_t count = 64 * 32;
  auto x = testing::random_numbers(count, generator, 3.0);
  const float far[] = {0.0F, -0.0F, 100.0F, -100.0F, 1e20F, -1e20F, 1e-20F, 5.4F, -5.4F, 10.0F, -10.0F};
  std::copy(std::begin(far), std::end(far), x.flat().begin());
  auto dy = testing::random_numbers(count, generator);
  Tensor<float, 1> expected({count}), received({count}), again({count}), dexpected({count});
  gelu_reference({x.flat().data(), expected.flat().data(), count, 1});
  gelu({x.flat().data(), received.flat().data(), count, 3});
  EXPECT_LT(testing::distance(expected.flat().subspan(16), received.flat().subspan(16)), 1e-6);
  gelu_gradient_reference({x.flat().data(), dy.flat().data(), dexpected.flat().data(), again.flat().data(), count, 1});
  gelu_gradient({x.flat().data(), dy.flat().data(), dy.flat().data(), again.flat().data(), count, 3});
  EXPECT_LT(testing::distance(dexpected.flat().subspan(16), dy.flat().subspan(16)), 1e-6);
  for (std::size_t i = 0; i < count; ++i) {
    const double tolerance = 1e-6 * std::max(1.0, std::abs(static_cast<double>(x.flat()[i])));
    ASSERT_NEAR(expected.flat()[i], received.flat()[i], tolerance) << x.flat()[i];
    ASSERT_EQ(received.flat()[i], again.flat()[i]);
    if (std::abs(x.flat()[i]) > 1e6F) continue;
    ASSERT_NEAR(dexpected.flat()[i], dy.flat()[i], 5e-6) << x.flat()[i];
  }
}

TEST_P(GeluKernel, KeepsWhatIsNotANumber) {
  Tensor<float, 1> x({32}), y({32});
  x.flat()[3] = std::numeric_limits<float>::quiet_NaN();
  gelu({x.flat().data(), y.flat().data(), 32, 1});
  EXPECT_TRUE(std::isnan(y.flat()[3]));
  EXPECT_EQ(y.flat()[4], 0);
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, GeluKernel, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
