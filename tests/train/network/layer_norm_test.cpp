#include "firstlayer/train/network/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/every_target.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

/// A norm of random numbers.
struct Norm {
  Norm(std::size_t rows, std::size_t d, Generator& generator)
      : x(rows, d, generator, 3.0),
        dy(rows, d, generator),
        weight(testing::random_numbers(d, generator)),
        bias(testing::random_numbers(d, generator)),
        y(rows, d),
        dx(rows, d),
        mean({x.view().rows()}),
        scale({x.view().rows()}),
        scratch({layer_norm_scratch(x.view().count, d)}) {}

  LayerNorm forward(unsigned threads) {
    return {x, weight.flat().data(), bias.flat().data(), 1e-5F, y, mean.flat().data(), scale.flat().data(), threads};
  }
  LayerNormGradient backward(bool add, testing::KeepingSink& sink, unsigned threads) {
    return {
        x,     dy,     weight.flat().data(), mean.flat().data(), scale.flat().data(), dx, add, scratch.flat().data(), 4,
        &sink, threads};
  }

  testing::OwnedPanels x, dy;
  Tensor<float, 1> weight, bias;
  testing::OwnedPanels y, dx;
  Tensor<float, 1> mean, scale, scratch;
};

std::vector<float> copy_of(std::span<const float> numbers) { return {numbers.begin(), numbers.end()}; }

TEST(LayerNorm, TakesMeanAndVarianceOfARow) {
  Generator generator(1);
  Norm norm(1, 2, generator);
  norm.x.view()(0, 0) = 1;
  norm.x.view()(0, 1) = 5;
  const float weight[] = {2, 3};
  const float bias[] = {10, 20};
  for (const auto& compute : {layer_norm, layer_norm_reference}) {
    LayerNorm job = norm.forward(1);
    job.weight = weight;
    job.bias = bias;
    compute(job);
    const float unit = 2 / std::sqrt(4 + 1e-5F);
    EXPECT_EQ(norm.mean.flat()[0], 3);
    EXPECT_NEAR(norm.scale.flat()[0], unit / 2, 1e-7);
    EXPECT_NEAR(norm.y.view()(0, 0), 10 - 2 * unit, 1e-6);
    EXPECT_NEAR(norm.y.view()(0, 1), 20 + 3 * unit, 2e-6);
  }
}

TEST(LayerNorm, GradientsAreFiniteDifferences) {
  Generator generator(2);
  Norm norm(3, 5, generator);
  const auto loss = [&] {
    layer_norm_reference(norm.forward(1));
    return testing::weighted_sum(norm.y.flat(), norm.dy.flat());
  };
  loss();
  testing::KeepingSink sink;
  layer_norm_gradient_reference(norm.backward(false, sink, 1));
  testing::expect_finite_differences(norm.x.flat(), norm.dx.flat(), loss);
  testing::expect_finite_differences(norm.weight.flat(), sink[4], loss);
  testing::expect_finite_differences(norm.bias.flat(), sink[5], loss);
}

class LayerNormKernel : public testing::OnTarget {};

TEST_P(LayerNormKernel, EqualsTheReference) {
  Generator generator(3);
  const Shape<2> shapes[] = {{1, 1}, {31, 7}, {64, 48}, {70, 129}};
  for (const auto& [rows, d] : shapes) {
    SCOPED_TRACE(shape_text(Shape<2>{rows, d}));
    Norm norm(rows, d, generator);
    layer_norm_reference(norm.forward(1));
    const std::vector<float> y = copy_of(norm.y.flat());
    testing::KeepingSink expected;
    testing::KeepingSink more;
    layer_norm_gradient_reference(norm.backward(false, expected, 1));
    layer_norm_gradient_reference(norm.backward(true, more, 1));
    const std::vector<float> twice = copy_of(norm.dx.flat());

    layer_norm(norm.forward(2));
    EXPECT_LT(testing::distance(y, norm.y.flat()), 1e-6);
    const std::vector<float> once = copy_of(norm.y.flat());
    layer_norm_again(norm.forward(2));
    EXPECT_EQ(testing::difference(once, norm.y.flat()), "");
    testing::KeepingSink received;
    testing::KeepingSink added;
    layer_norm_gradient(norm.backward(false, received, 2));
    layer_norm_gradient(norm.backward(true, added, 3));
    EXPECT_LT(testing::distance(expected[4], received[4]), 2e-6);
    EXPECT_LT(testing::distance(expected[5], received[5]), 2e-6);
    EXPECT_EQ(testing::difference(received[4], added[4]), "");
    if (d > 1) {  // of one number all is rounding
      EXPECT_LT(testing::distance(twice, norm.dx.flat()), 5e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, LayerNormKernel, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
