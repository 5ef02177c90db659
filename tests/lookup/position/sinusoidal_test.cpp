#include "firstlayer/lookup/position/sinusoidal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/input_embedding.h"
#include "tests/lookup/position/golden.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::golden;
using testing::message_of;

struct Case {
  const char* name;
  SinusoidalLayout layout;
  std::size_t dim;
};

class SinusoidalGolden : public ::testing::TestWithParam<Case> {};

/// PyTorch in float64, rounded: to the bit. PyTorch in float32, as published code has it: as close as its angles are.
TEST_P(SinusoidalGolden, EqualsPyTorch) {
  constexpr std::size_t kRowStep = 93;
  const std::string name = std::string("sinusoidal.") + GetParam().name + "." + std::to_string(GetParam().dim) + ".";
  std::vector<std::size_t> shape;
  const std::vector<float> exact = golden<float>(name + "double", &shape);
  const std::vector<float> rounded = golden<float>(name + "float");
  ASSERT_EQ(shape[1], GetParam().dim);
  const Tensor<float, 2> table = sinusoidal_table(1024, GetParam().dim, GetParam().layout);
  for (std::size_t row = 0; row < shape[0]; ++row) {
    for (std::size_t column = 0; column < shape[1]; ++column) {
      const float value = table.view()(row * kRowStep, column);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(exact[row * shape[1] + column]))
          << "row " << row * kRowStep << ", column " << column;
      EXPECT_NEAR(value, rounded[row * shape[1] + column], 5e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, SinusoidalGolden,
                         ::testing::Values(Case{"interleaved", SinusoidalLayout::kInterleaved, 48},
                                           Case{"interleaved", SinusoidalLayout::kInterleaved, 7},
                                           Case{"interleaved", SinusoidalLayout::kInterleaved, 1},
                                           Case{"halves", SinusoidalLayout::kHalves, 48},
                                           Case{"halves", SinusoidalLayout::kHalves, 7},
                                           Case{"halves", SinusoidalLayout::kHalves, 2},
                                           Case{"halves", SinusoidalLayout::kHalves, 1}));

TEST(SinusoidalTable, PutsTheWavesWhereTheLayoutSays) {
  const Tensor<float, 2> interleaved = sinusoidal_table(2, 4);
  const Tensor<float, 2> halves = sinusoidal_table(2, 4, SinusoidalLayout::kHalves);
  const auto as_float = [](double value) { return static_cast<float>(value); };
  // The second wave of four columns: 10000^(2/4) = 100 in the paper, 10000^(1/1) = 10000 in tensor2tensor.
  EXPECT_EQ(std::vector<float>(interleaved.view()[1].begin(), interleaved.view()[1].end()),
            (std::vector<float>{as_float(std::sin(1.0)), as_float(std::cos(1.0)), as_float(std::sin(0.01)),
                                as_float(std::cos(0.01))}));
  EXPECT_EQ(std::vector<float>(halves.view()[1].begin(), halves.view()[1].end()),
            (std::vector<float>{as_float(std::sin(1.0)), as_float(std::sin(1e-4)), as_float(std::cos(1.0)),
                                as_float(std::cos(1e-4))}));
}

TEST(SinusoidalTable, IsAPositionTableOfInputEmbedding) {
  Generator generator(3);
  const Tensor<float, 2> tokens = random_table(5, 6, generator);
  const Tensor<float, 2> positions = sinusoidal_table(4, 6);
  Generator again(3);
  const InputEmbedding embedding(random_table(5, 6, again), sinusoidal_table(4, 6));
  const std::vector<TokenId> ids = {4, 0, 4};
  const Tensor<float, 3> out = embedding.forward({ids, {1, 3}});
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(out.view()(0, t, i), tokens.view()(ids[t], i) + positions.view()(t, i));
    }
  }
}

TEST(SinusoidalTable, RefusesNoRowsAndNoColumns) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { sinusoidal_table(0, 8); }),
            "[sinusoidal_table] expected context and d of at least 1, received context = 0, d = 8");
  EXPECT_THROW(sinusoidal_table(8, 0), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
