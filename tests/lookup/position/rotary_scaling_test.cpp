#include "firstlayer/lookup/position/rotary_scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "tests/lookup/position/golden.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::golden;
using testing::message_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// transformers computes in float32, with a relative error of some 2e-7 in a power.
void expect_transformers(const std::string& name, const RotaryFrequencies& frequencies) {
  constexpr double kRelative = 2e-6;
  std::vector<float> expected = golden<float>("theta." + name);
  EXPECT_NEAR(frequencies.attention_factor, expected.back(), 1e-7) << name;
  expected.pop_back();
  ASSERT_EQ(frequencies.theta.size(), expected.size()) << name;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(frequencies.theta[i] / expected[i], 1, kRelative) << name << ", frequency " << i;
  }
}

LongRopeScaling longrope() {
  LongRopeScaling scaling{.short_factors = {}, .long_factors = {}, .factor = 32, .original_context = 4096};
  for (int i = 0; i < 32; ++i) {
    scaling.short_factors.push_back(1 + i / 64.0);
    scaling.long_factors.push_back(1 + i / 2.0);
  }
  return scaling;
}

TEST(RotaryFrequencies, EqualTransformers) {
  expect_transformers("none", rotary_frequencies(128, 10000));
  expect_transformers("linear", rotary_frequencies(64, 10000, LinearScaling{4}));
  const DynamicNtkScaling dynamic{.factor = 2, .original_context = 2048};
  expect_transformers("dynamic.short", rotary_frequencies(64, 10000, dynamic, 1000));
  expect_transformers("dynamic.long", rotary_frequencies(64, 10000, dynamic, 5000));
  expect_transformers("yarn", rotary_frequencies(128, 10000, YarnScaling{.factor = 16, .original_context = 4096}));
  expect_transformers("yarn.options", rotary_frequencies(96, 500000,
                                                         YarnScaling{.factor = 40,
                                                                     .original_context = 4096,
                                                                     .beta_fast = 24,
                                                                     .beta_slow = 2,
                                                                     .truncate = false,
                                                                     .attention_factor = 0.75}));
  expect_transformers("yarn.step", rotary_frequencies(16, 10000, YarnScaling{.factor = 4, .original_context = 6}));
  expect_transformers("yarn.low_base", rotary_frequencies(8, 10, YarnScaling{.factor = 4, .original_context = 1000}));
  expect_transformers("llama3", rotary_frequencies(128, 500000, Llama3Scaling{}));
  expect_transformers("longrope.short", rotary_frequencies(64, 10000, longrope(), 4096));
  expect_transformers("longrope.long", rotary_frequencies(64, 10000, longrope(), 4097));
}

TEST(RotaryFrequencies, AreAGeometricSeriesFromOne) {
  const RotaryFrequencies frequencies = rotary_frequencies(4, 10000);
  EXPECT_EQ(frequencies.theta.size(), 2U);
  EXPECT_EQ(frequencies.theta[0], 1);
  EXPECT_DOUBLE_EQ(frequencies.theta[1], 0.01);
  EXPECT_EQ(frequencies.attention_factor, 1);
}

TEST(RotaryFrequencies, NtkLeavesTheHighestAndDividesTheLowest) {
  const RotaryFrequencies plain = rotary_frequencies(64, 10000);
  const RotaryFrequencies scaled = rotary_frequencies(64, 10000, NtkScaling{8});
  EXPECT_EQ(scaled.theta.front(), 1);
  EXPECT_NEAR(scaled.theta.back(), plain.theta.back() / 8, 1e-15);
  EXPECT_EQ(rotary_frequencies(2, 10000, NtkScaling{8}).theta, std::vector<double>{1});  // r / (r - 2) has no value
}

TEST(RotaryFrequencies, DynamicNtkBeginsBeyondTheOriginalContext) {
  const DynamicNtkScaling dynamic{.factor = 2, .original_context = 100};
  EXPECT_EQ(rotary_frequencies(8, 10000, dynamic, 100).theta, rotary_frequencies(8, 10000).theta);
  EXPECT_EQ(rotary_frequencies(8, 10000, dynamic, 200).theta, rotary_frequencies(8, 10000, NtkScaling{3}).theta);
}

TEST(RotaryFrequencies, FactorOneChangesNothing) {
  const std::vector<double> plain = rotary_frequencies(32, 10000).theta;
  EXPECT_EQ(rotary_frequencies(32, 10000, LinearScaling{1}).theta, plain);
  EXPECT_EQ(rotary_frequencies(32, 10000, NtkScaling{1}).theta, plain);
  const RotaryFrequencies yarn = rotary_frequencies(32, 10000, YarnScaling{.factor = 1, .original_context = 4096});
  EXPECT_EQ(yarn.attention_factor, 1);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_DOUBLE_EQ(yarn.theta[i], plain[i]);
}

TEST(RotaryFrequencies, RefuseAWidthThatHasNoPairs) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { rotary_frequencies(7, 10000); }),
            "[rotary_frequencies] expected an even rotary_dim of at least 2, for numbers rotate in pairs, received 7");
  EXPECT_THROW(rotary_frequencies(0, 10000), std::invalid_argument);
}

TEST(RotaryFrequencies, RefuseABaseThatIsNotPositive) {
  for (const double base : {0.0, -10000.0, kNan, kInfinity}) {
    EXPECT_THROW(rotary_frequencies(8, base), std::invalid_argument) << base;
  }
  EXPECT_EQ(message_of<std::invalid_argument>([] { rotary_frequencies(8, -2); }),
            "[rotary_frequencies] expected a base above 0, received -2.000000");
}

TEST(RotaryFrequencies, RefuseAFactorBelowOne) {
  for (const double factor : {0.0, 0.5, -1.0, kNan, kInfinity}) {
    LongRopeScaling longrope_of_factor = longrope();
    longrope_of_factor.factor = factor;
    const std::vector<RotaryScaling> scalings = {
        LinearScaling{factor},           NtkScaling{factor},
        DynamicNtkScaling{factor, 100},  YarnScaling{.factor = factor, .original_context = 100},
        Llama3Scaling{.factor = factor}, longrope_of_factor};
    for (const RotaryScaling& scaling : scalings) {
      EXPECT_THROW(rotary_frequencies(64, 10000, scaling), std::invalid_argument)
          << factor << ", scaling " << scaling.index();
    }
  }
  EXPECT_EQ(message_of<std::invalid_argument>([] { rotary_frequencies(8, 10000, LinearScaling{0.5}); }),
            "[rotary_frequencies] expected a factor of at least 1, received 0.500000");
}

TEST(RotaryFrequencies, RefuseWhatAScalingCannotBeComputedFrom) {
  const auto refuses = [](const RotaryScaling& scaling, double base = 10000) {
    return message_of<std::invalid_argument>([&] { rotary_frequencies(64, base, scaling); });
  };
  EXPECT_NE(refuses(DynamicNtkScaling{2, 0}).find("original_context"), std::string::npos);
  EXPECT_NE(refuses(YarnScaling{.factor = 2, .original_context = 0}).find("original_context"), std::string::npos);
  EXPECT_NE(refuses(YarnScaling{.factor = 2, .original_context = 9, .beta_fast = 1}).find("beta_fast above beta_slow"),
            std::string::npos);
  EXPECT_NE(refuses(YarnScaling{.factor = 2, .original_context = 9, .beta_slow = kNan}).find("beta_slow"),
            std::string::npos);
  EXPECT_NE(refuses(YarnScaling{.factor = 2, .original_context = 9, .attention_factor = -1}).find("attention_factor"),
            std::string::npos);
  EXPECT_NE(refuses(YarnScaling{.factor = 2, .original_context = 9}, 1).find("base above 1"), std::string::npos);
  EXPECT_NE(refuses(Llama3Scaling{.low_freq_factor = 4}).find("high_freq_factor above low_freq_factor"),
            std::string::npos);
  EXPECT_NE(refuses(Llama3Scaling{.low_freq_factor = 0}).find("low_freq_factor"), std::string::npos);
  EXPECT_NE(refuses(Llama3Scaling{.original_context = 0}).find("original_context"), std::string::npos);

  LongRopeScaling scaling = longrope();
  scaling.long_factors.pop_back();
  EXPECT_EQ(refuses(scaling), "[rotary_frequencies] expected 32 short and as many long factors, received 32 and 31");
  scaling = longrope();
  scaling.short_factors[3] = 0;
  EXPECT_NE(refuses(scaling).find("factors above 0"), std::string::npos);
  scaling = longrope();
  scaling.original_context = 1;
  EXPECT_NE(refuses(scaling).find("original_context of at least 2"), std::string::npos);
}

}  // namespace
}  // namespace firstlayer
