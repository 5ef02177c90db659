#include "firstlayer/train/generate/decoder_weights.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

using testing::small_parameters;

TEST(DecoderWeights, AreTheParametersThemselves) {
  const GptParameters parameters = small_parameters();
  const DecoderWeights weights(parameters, false, 1);
  for (std::size_t tensor = 0; tensor < parameters.layout().tensors().size(); ++tensor) {
    EXPECT_EQ(weights.numbers(tensor), parameters[tensor].data());
  }
  const WeightMatrix head = weights.matrix(parameters.layout().head());
  EXPECT_EQ(head.rows, parameters.config().vocabulary);
  EXPECT_EQ(head.columns, parameters.config().dim);
  EXPECT_EQ(head.halves, nullptr);
}

TEST(DecoderWeights, OrACopyOfThemWithMatricesInBf16) {
  const GptParameters kept = small_parameters();
  std::optional<GptParameters> parameters = small_parameters();
  const DecoderWeights weights(*parameters, true, 2);
  parameters.reset();
  for (std::size_t tensor = 0; tensor < kept.layout().tensors().size(); ++tensor) {
    const GptTensor& place = kept.layout().tensors()[tensor];
    SCOPED_TRACE(place.name);
    const bool halved = place.is_matrix && tensor != kept.layout().position_table();
    ASSERT_EQ(weights.numbers(tensor) == nullptr, halved);
    for (std::size_t i = 0; i < place.size; ++i) {
      if (halved) {
        ASSERT_EQ(weights.matrix(tensor).halves[i].bits, BFloat16(kept[tensor][i]).bits) << i;
      } else {
        ASSERT_EQ(weights.numbers(tensor)[i], kept[tensor][i]) << i;
      }
    }
  }
}

}  // namespace
}  // namespace firstlayer
