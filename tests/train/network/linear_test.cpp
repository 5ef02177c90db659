#include "firstlayer/train/network/linear.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firstlayer/train/network/packed_features.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

/// A layer of random numbers, `rows` of them in the batch.
struct Layer {
  Layer(std::size_t rows, std::size_t inputs, std::size_t outputs, Generator& generator)
      : x(rows, inputs, generator),
        residual(rows, outputs, generator),
        dy(rows, outputs, generator),
        weight(testing::random_numbers(inputs * outputs, generator)),
        bias(testing::random_numbers(outputs, generator)),
        y(rows, outputs),
        dx(rows, inputs) {}

  Linear forward(bool with_residual, unsigned threads) {
    return {x, weight.flat().data(), bias.flat().data(), with_residual ? residual.view() : Panels{}, y, threads};
  }
  LinearInputGradient input_gradient(unsigned threads) { return {dy, weight.flat().data(), dx, threads}; }
  LinearWeightGradient weight_gradient(testing::KeepingSink& sink, unsigned threads) {
    scratch = Tensor<float, 1>({packed_size(dy.view().rows(), dy.view().features)});
    return {x, dy, 0, 1, scratch.flat().data(), &sink, threads};
  }

  testing::OwnedPanels x, residual, dy;
  Tensor<float, 1> weight, bias;
  testing::OwnedPanels y, dx;
  Tensor<float, 1> scratch;
};

TEST(Linear, MultipliesAndAdds) {
  Generator generator(1);
  Layer layer(1, 2, 3, generator);
  layer.x.view()(0, 0) = 2;
  layer.x.view()(0, 1) = 3;
  const float weight[] = {1, 10, 100, 2, 20, 200};
  const float bias[] = {0.5, 0.25, 0};
  for (std::size_t n = 0; n < 3; ++n) layer.residual.view()(0, n) = 1000;
  for (const auto& compute : {linear, linear_reference}) {
    compute({layer.x, weight, bias, {}, layer.y, 1});
    EXPECT_EQ(layer.y.view()(0, 0), 8.5F);
    EXPECT_EQ(layer.y.view()(0, 1), 80.25F);
    EXPECT_EQ(layer.y.view()(0, 2), 800);
    compute({layer.x, weight, bias, layer.residual, layer.y, 1});
    EXPECT_EQ(layer.y.view()(0, 0), 1008.5F);
  }
}

TEST(Linear, EqualsTheReferenceOnRandomShapes) {
  Generator generator(2);
  const Shape<3> shapes[] = {{1, 1, 1}, {33, 7, 5}, {64, 48, 144}, {70, 16, 50}, {40, 400, 13}, {32, 20, 800}};
  for (const auto& [rows, inputs, outputs] : shapes) {
    SCOPED_TRACE(shape_text(Shape<3>{rows, inputs, outputs}));
    Layer plain(rows, inputs, outputs, generator);
    for (const bool residual : {false, true}) {
      linear_reference(plain.forward(residual, 1));
      const std::vector<float> expected(plain.y.flat().begin(), plain.y.flat().end());
      for (const unsigned threads : {1U, 3U}) {
        linear(plain.forward(residual, threads));
        EXPECT_LT(testing::distance(expected, plain.y.flat()), 1e-6);
      }
    }
    linear_input_gradient_reference(plain.input_gradient(1));
    const std::vector<float> expected(plain.dx.flat().begin(), plain.dx.flat().end());
    linear_input_gradient(plain.input_gradient(3));
    EXPECT_LT(testing::distance(expected, plain.dx.flat()), 1e-6);

    testing::KeepingSink reference;
    testing::KeepingSink fast;
    linear_weight_gradient_reference(plain.weight_gradient(reference, 1));
    linear_weight_gradient(plain.weight_gradient(fast, 3));
    EXPECT_LT(testing::distance(reference[0], fast[0]), 1e-6);
    EXPECT_LT(testing::distance(reference[1], fast[1]), 1e-6);
  }
}

TEST(Linear, HasTheSameBitsOnAnyNumberOfThreads) {
  Generator generator(3);
  Layer layer(70, 48, 100, generator);
  std::vector<float> first;
  for (const unsigned threads : {1U, 2U, 5U}) {
    testing::KeepingSink sink;
    linear(layer.forward(true, threads));
    linear_input_gradient(layer.input_gradient(threads));
    linear_weight_gradient(layer.weight_gradient(sink, threads));
    std::vector<float> all(layer.y.flat().begin(), layer.y.flat().end());
    all.insert(all.end(), layer.dx.flat().begin(), layer.dx.flat().end());
    all.insert(all.end(), sink[0].begin(), sink[0].end());
    all.insert(all.end(), sink[1].begin(), sink[1].end());
    if (first.empty()) first = all;
    EXPECT_EQ(testing::difference(first, all), "") << threads << " threads";
  }
}

TEST(Linear, GradientsAreFiniteDifferences) {
  Generator generator(4);
  Layer layer(3, 4, 5, generator);
  const auto loss = [&] {
    linear_reference(layer.forward(false, 1));
    return testing::weighted_sum(layer.y.flat(), layer.dy.flat());
  };
  testing::KeepingSink sink;
  linear_input_gradient_reference(layer.input_gradient(1));
  linear_weight_gradient_reference(layer.weight_gradient(sink, 1));
  testing::expect_finite_differences(layer.x.flat(), layer.dx.flat(), loss);
  testing::expect_finite_differences(layer.weight.flat(), sink[0], loss);
  testing::expect_finite_differences(layer.bias.flat(), sink[1], loss);
}

}  // namespace
}  // namespace firstlayer
