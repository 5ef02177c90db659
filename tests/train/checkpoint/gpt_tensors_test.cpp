#include "firstlayer/train/checkpoint/gpt_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "firstlayer/formats/safetensors.h"
#include "firstlayer/lookup/position/sinusoidal.h"
#include "tests/test_files.h"
#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

using testing::kSmallNetwork;
using testing::small_parameters;
using testing::TemporaryFolder;

TEST(GptTensors, AreWrittenUnderTheirNames) {
  TemporaryFolder folder;
  const GptParameters parameters = small_parameters();
  write_gpt_tensors(folder / "x.safetensors", parameters, {{"format", "pt"}});
  const SafetensorsFile file = SafetensorsFile::open(folder / "x.safetensors");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.tensors().size(), parameters.layout().tensors().size());
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const GptTensor& tensor = parameters.layout().tensors()[i];
    const StoredTensor* stored = file.find(tensor.name);
    ASSERT_NE(stored, nullptr) << tensor.name;
    EXPECT_EQ(stored->shape, tensor.shape);
    EXPECT_TRUE(std::ranges::equal(stored->bytes, std::as_bytes(parameters[i]))) << tensor.name;
  }
}

TEST(GptTensors, TheHashIsOfTheNumbers) {
  TemporaryFolder folder;
  GptParameters parameters = small_parameters();
  const std::uint64_t hash = write_gpt_tensors(folder / "x.safetensors", parameters, {});
  EXPECT_EQ(write_gpt_tensors(folder / "y.safetensors", parameters, {{"more", "words"}}), hash);
  for (std::size_t tensor : {std::size_t{0}, parameters.layout().tensors().size() - 1}) {
    float& last = parameters[tensor].back();
    const float before = last;
    last = std::nextafter(last, 10.0F);
    EXPECT_NE(write_gpt_tensors(folder / "z.safetensors", parameters, {}), hash) << tensor;
    last = before;
  }
}

TEST(GptTensors, FixedPositionsAreATableToOthers) {
  TemporaryFolder folder;
  GptConfig config = kSmallNetwork;
  config.position = PositionScheme::kSinusoidal;
  write_gpt_tensors(folder / "x.safetensors", GptParameters(config), {});
  const SafetensorsFile file = SafetensorsFile::open(folder / "x.safetensors");
  const Tensor<float, 2> expected = sinusoidal_table(config.context, config.dim);
  EXPECT_TRUE(std::ranges::equal(file.find("transformer.wpe.weight")->bytes, std::as_bytes(expected.flat())));
  config.position = PositionScheme::kNone;
  EXPECT_EQ(fixed_position_table(config).shape(), (Shape<2>{10, 16}));
  for (const PositionScheme scheme : {PositionScheme::kLearned, PositionScheme::kRotary, PositionScheme::kAlibi}) {
    config.position = scheme;
    EXPECT_EQ(fixed_position_table(config).size(), 0) << scheme_name(scheme);
  }
}

}  // namespace
}  // namespace firstlayer
