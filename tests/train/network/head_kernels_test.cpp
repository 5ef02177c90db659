#include "firstlayer/train/network/head_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "firstlayer/train/network/product.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

class HeadKernels : public testing::OnTarget {};

TEST_P(HeadKernels, EqualTheReference) {
  Generator generator(1);
  for (const std::size_t tokens : {1U, 12U, 13U, 40U}) {
    for (const bool keep : {false, true}) {
      auto expected = testing::random_numbers(tokens * kPanelRows, generator, 5.0);
      Tensor<float, 1> received(expected.shape());
      std::ranges::copy(expected.flat(), received.flat().begin());
      std::vector<float> largest(kPanelRows, 1.0F);
      std::vector<float> fast_largest = largest;
      largest_logits_reference({expected.flat().data(), tokens}, largest.data());
      largest_logits({received.flat().data(), tokens}, fast_largest.data());
      EXPECT_EQ(testing::difference(largest, fast_largest), "");

      const std::size_t strip = 3 * kStripRows * kPanelRows;
      Tensor<float, 1> kept({(tokens / kStripRows + 1) * strip}), fast_kept(kept.shape());
      std::vector<float> sums(kPanelRows, 0.25F);
      std::vector<float> fast_sums = sums;
      tile_exponentials_reference(
          {{expected.flat().data(), tokens}, largest.data(), sums.data(), keep ? kept.flat().data() : nullptr, strip});
      tile_exponentials({{received.flat().data(), tokens},
                         largest.data(),
                         fast_sums.data(),
                         keep ? fast_kept.flat().data() : nullptr,
                         strip});
      EXPECT_LT(testing::distance(expected.flat(), received.flat()), 5e-7);
      EXPECT_LT(testing::distance(sums, fast_sums), 5e-7);
      EXPECT_LT(testing::distance(kept.flat(), fast_kept.flat()), 5e-7);
    }
  }
}

TEST_P(HeadKernels, HaveExponentialsOfEveryNumber) {
  constexpr std::size_t kTokens = 2000;
  Tensor<float, 1> x({kTokens * kPanelRows}), e(x.shape());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x.flat()[i] = -87.3F + 175.2F * static_cast<float>(i) / static_cast<float>(x.size());
  }
  std::ranges::copy(x.flat(), e.flat().begin());
  const std::vector<float> zeros(kPanelRows);
  std::vector<float> sums(kPanelRows);
  tile_exponentials({{e.flat().data(), kTokens}, zeros.data(), sums.data(), nullptr, 0});
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x.flat()[i]));
    worst = std::max(worst, std::abs(static_cast<double>(e.flat()[i]) - exact) / exact);
  }
  EXPECT_LT(worst, 2.5e-7);
}

TEST_P(HeadKernels, KeepWhatIsNotANumberAndLetTheSmallestVanish) {
  Tensor<float, 1> x({2 * kPanelRows});
  x.flat()[0] = std::numeric_limits<float>::quiet_NaN();
  x.flat()[1] = -std::numeric_limits<float>::infinity();
  x.flat()[2] = -1e30F;
  const std::vector<float> zeros(kPanelRows);
  std::vector<float> sums(kPanelRows);
  tile_exponentials({{x.flat().data(), 2}, zeros.data(), sums.data(), nullptr, 0});
  EXPECT_TRUE(std::isnan(sums[0]));
  EXPECT_EQ(sums[1], 1);
  EXPECT_EQ(sums[2], 1);
  EXPECT_EQ(sums[3], 2);
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, HeadKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
