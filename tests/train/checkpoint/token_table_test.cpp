#include "firstlayer/train/checkpoint/token_table.h"

#include <gtest/gtest.h>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/npy.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/formats/word_vectors_writer.h"
#include "firstlayer/train/checkpoint/gpt_checkpoint.h"
#include "tests/test_files.h"
#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::numbers_of;
using testing::small_parameters;
using testing::TemporaryFolder;

std::vector<float> table_of(const GptParameters& parameters) { return {parameters[0].begin(), parameters[0].end()}; }

TEST(LoadTokenTable, TakesTheTableOfAModelAndNothingElse) {
  TemporaryFolder folder;
  const GptParameters other = small_parameters(testing::kSmallNetwork, 9);
  save_gpt(folder.path(), other);
  GptParameters parameters = small_parameters();
  const std::vector<float> positions(parameters[1].begin(), parameters[1].end());
  load_token_table(folder / "model.safetensors", parameters);
  EXPECT_EQ(table_of(parameters), table_of(other));
  EXPECT_EQ(std::vector<float>(parameters[1].begin(), parameters[1].end()), positions);
}

TEST(LoadTokenTable, TakesANpyArrayOrTheOnlyTensor) {
  TemporaryFolder folder;
  const GptParameters other = small_parameters(testing::kSmallNetwork, 9);
  NpyWriter npy(folder / "x.npy", Dtype::kF32, {61, 16});
  npy.append(std::as_bytes(other[0]));
  npy.commit();
  SafetensorsWriter one(folder / "x.safetensors", {{"vectors", Dtype::kF32, {61, 16}}});
  one.append(std::as_bytes(other[0]));
  one.commit();
  for (const char* name : {"x.npy", "x.safetensors"}) {
    GptParameters parameters = small_parameters();
    load_token_table(folder / name, parameters);
    EXPECT_EQ(table_of(parameters), table_of(other)) << name;
  }
}

TEST(LoadTokenTable, TakesWordVectorsInTheirOrder) {
  TemporaryFolder folder;
  const GptParameters other = small_parameters(testing::kSmallNetwork, 9);
  for (const WordVectorsLayout layout :
       {WordVectorsLayout::kBinary, WordVectorsLayout::kText, WordVectorsLayout::kGlove}) {
    WordVectorsWriter writer(folder / "x.vec", 61, 16, layout);
    for (std::size_t row = 0; row < 61; ++row) writer.append("w" + std::to_string(row), other.matrix(0)[row]);
    writer.commit();
    GptParameters parameters = small_parameters();
    load_token_table(folder / "x.vec", parameters);
    EXPECT_EQ(table_of(parameters), table_of(other));
  }
  folder.write("few.vec", "2 3\na 1 2 3\nb 4 5 6\n");
  GptParameters parameters = small_parameters();
  EXPECT_NE(message_of<FormatError>([&] { load_token_table(folder / "few.vec", parameters); }).find("F32 (2, 3)"),
            std::string::npos);
}

TEST(LoadTokenTable, RefusesAnotherShapeTypeOrNoTable) {
  TemporaryFolder folder;
  GptParameters parameters = small_parameters();
  const std::vector<float> before = numbers_of(parameters);
  NpyWriter npy(folder / "x.npy", Dtype::kF32, {16, 61});
  npy.append(std::as_bytes(parameters[0]));
  npy.commit();
  EXPECT_EQ(
      message_of<FormatError>([&] { load_token_table(folder / "x.npy", parameters); }),
      (folder / "x.npy").string() + ": expected a table (V, d) = (61, 16) of F32, BF16 or F16, received F32 (16, 61)");
  SafetensorsWriter ints(folder / "i.safetensors", {{"wte.weight", Dtype::kI32, {61, 16}}});
  ints.append(std::as_bytes(parameters[0]));
  ints.commit();
  EXPECT_THROW(load_token_table(folder / "i.safetensors", parameters), FormatError);
  SafetensorsWriter none(folder / "n.safetensors", {{"a", Dtype::kF32, {1}}, {"b", Dtype::kF32, {1}}});
  for (int tensor = 0; tensor < 2; ++tensor) none.append(std::as_bytes(parameters[0]).first(4));
  none.commit();
  EXPECT_NE(message_of<FormatError>([&] { load_token_table(folder / "n.safetensors", parameters); }).find("2 tensors"),
            std::string::npos);
  EXPECT_EQ(numbers_of(parameters), before);
}

}  // namespace
}  // namespace firstlayer
