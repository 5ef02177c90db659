#include "firstlayer/train/network/packed_features.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

TEST(PackedFeatures, AreBlocksOfThirtyTwoFeatures) {
  Generator generator(1);
  for (const std::size_t features : {1U, 31U, 32U, 45U, 70U}) {
    testing::OwnedPanels from(64, features, generator);
    const ConstPanels x = from;
    std::vector<float> factors(64);
    for (std::size_t r = 0; r < factors.size(); ++r) factors[r] = static_cast<float>(r) - 3;
    for (const float* each : {static_cast<const float*>(nullptr), static_cast<const float*>(factors.data())}) {
      std::vector<float> packed(packed_size(64, features), -1.0F);
      pack_features(x, each, packed.data(), 3);
      for (std::size_t f = 0; f < panels_for(features) * kPanelRows; ++f) {
        for (std::size_t r = 0; r < 64; ++r) {
          const float expected = f < features ? x(r, f) * (each == nullptr ? 1 : each[r]) : 0;
          ASSERT_EQ(packed[(f / 32 * 64 + r) * 32 + f % 32], expected) << f << ", " << r;
        }
      }
    }
  }
}

}  // namespace
}  // namespace firstlayer
