#include "firstlayer/lookup/optimizer/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/gradient.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

class Clip : public ::testing::Test {
 protected:
  /// (3, 4) of length 5 and (12) in another tensor: 13 together.
  std::vector<float> first_ = {3, 0, -4};
  std::vector<float> second_ = {12};
  std::vector<NamedGradient> both_ = {{"wte", first_}, {"wpe", second_}};
};

TEST_F(Clip, GivesTheNormOfAllGradientsTogether) {
  EXPECT_DOUBLE_EQ(gradient_norm(both_), 13);
  EXPECT_EQ(gradient_norm({}), 0);
}

TEST_F(Clip, ScalesAllByTheSameFactorWhenTheyAreLonger) {
  EXPECT_DOUBLE_EQ(clip_gradients(both_, 6.5), 13);
  EXPECT_EQ(first_, (std::vector<float>{static_cast<float>(6.5 / (13 + 1e-6)) * 3, 0,
                                        static_cast<float>(6.5 / (13 + 1e-6)) * -4}));
  EXPECT_NEAR(gradient_norm(both_), 6.5, 1e-5);
}

TEST_F(Clip, GivesTheFactorAndChangesNothing) {
  const GradientClip clip = gradient_clip(both_, 6.5);
  EXPECT_DOUBLE_EQ(clip.norm, 13);
  EXPECT_EQ(clip.factor, static_cast<float>(6.5 / (13 + 1e-6)));
  EXPECT_EQ(gradient_clip(both_, 13.1).factor, 1);
  EXPECT_EQ(first_, (std::vector<float>{3, 0, -4}));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { gradient_clip(both_, -1); }),
            "[gradient_clip] expected a max_norm of at least 0, received -1");
}

TEST_F(Clip, LeavesShorterOnesAlone) {
  for (double max_norm : {13.1, 1e10, std::numeric_limits<double>::infinity()}) {
    EXPECT_DOUBLE_EQ(clip_gradients(both_, max_norm), 13);
  }
  EXPECT_EQ(first_, (std::vector<float>{3, 0, -4}));
}

TEST_F(Clip, ToZeroGivesZeros) {
  clip_gradients(both_, 0);
  EXPECT_EQ(gradient_norm(both_), 0);
}

TEST_F(Clip, DoesNotOverflow) {
  first_ = {3e38F, 3e38F, 0};
  EXPECT_NEAR(gradient_norm(both_), 3e38 * std::sqrt(2.0), 1e32);
}

TEST_F(Clip, RefusesWhatIsNotFiniteByNameAndChangesNothing) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    second_[0] = bad;
    EXPECT_EQ(message_of<std::invalid_argument>([&] { clip_gradients(both_, 1); }),
              "[clip_gradients] expected finite gradients, received inf or NaN in wpe");
    EXPECT_EQ(first_, (std::vector<float>{3, 0, -4}));
  }
}

TEST_F(Clip, RefusesANegativeNorm) {
  EXPECT_EQ(message_of<std::invalid_argument>([&] { clip_gradients(both_, -1); }),
            "[clip_gradients] expected a max_norm of at least 0, received -1");
  EXPECT_THROW(clip_gradients(both_, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

// `tools/make_optimizer_golden.py --clip` prints norm and clipped numbers.
TEST_F(Clip, AgreesWithTorch) {
  constexpr double kTorchNorm = 63.21278762817383;
  const std::vector<double> torch_clipped = {-0.008080604486167431, 0.016266830265522003, -0.005586710758507252,
                                             0.0019456713926047087};
  Generator generator(11);
  std::vector<float> wte(3000);
  std::vector<float> wpe(1001);
  generator.fill_normal(wte);
  generator.fill_normal(wpe);
  const std::vector<NamedGradient> gradients = {{"wte", wte}, {"wpe", wpe}};
  EXPECT_NEAR(clip_gradients(gradients, 1), kTorchNorm, 1e-5 * kTorchNorm);
  for (std::size_t i = 0; i < torch_clipped.size(); ++i) {
    EXPECT_NEAR(wte[i], torch_clipped[i], 1e-5 * std::fabs(torch_clipped[i])) << i;
  }
}

TEST_F(Clip, HasTheSameBitsOnAnyNumberOfThreads) {
  for (std::size_t size : {1, 63, 64, 65, 1000, 100003}) {
    Generator generator(12);
    std::vector<float> one(size);
    generator.fill_normal(one);
    std::vector<float> three = one;
    const NamedGradient of_one{"one", one};
    const NamedGradient of_three{"three", three};
    EXPECT_EQ(clip_gradients({&of_one, 1}, 0.5, 1), clip_gradients({&of_three, 1}, 0.5, 3));
    EXPECT_EQ(testing::difference(one, three), "");
  }
}

// The rows that a RowGradient leaves out are zero.
TEST_F(Clip, OfARowGradientIsThatOfTheDenseOne) {
  const std::vector<TokenId> ids = {1, 5};
  RowGradient gradient;
  gradient.assign(ids, 3);
  Generator generator(13);
  generator.fill_normal(gradient.rows().flat());
  Tensor<float, 2> dense({8, 3});
  add_rows(gradient, dense);
  const NamedGradient rows{"rows", gradient.rows().flat()};
  const NamedGradient whole{"dense", dense.flat()};
  EXPECT_DOUBLE_EQ(gradient_norm({&rows, 1}), gradient_norm({&whole, 1}));
}

}  // namespace
}  // namespace firstlayer
