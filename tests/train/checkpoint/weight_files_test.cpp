#include "firstlayer/train/checkpoint/weight_files.h"

#include <gtest/gtest.h>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/half.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

template <class T>
void write_tensors(const std::filesystem::path& path, const std::vector<std::string>& names,
                   const std::vector<std::size_t>& shape, const std::vector<T>& numbers, Dtype dtype) {
  std::vector<TensorSpec> specs;
  for (const std::string& name : names) specs.push_back({name, dtype, shape});
  SafetensorsWriter writer(path, specs);
  for (std::size_t i = 0; i < names.size(); ++i) writer.append(std::as_bytes(std::span<const T>(numbers)));
  writer.commit();
}

void write_one(const std::filesystem::path& path, const std::string& name, float number) {
  write_tensors<float>(path, {name}, {1}, {number}, Dtype::kF32);
}

TEST(CanonicalTensorName, IsThatOfGpt2LMHeadModel) {
  EXPECT_EQ(canonical_tensor_name("wte.weight"), "transformer.wte.weight");
  EXPECT_EQ(canonical_tensor_name("transformer.h.0.ln_1.bias"), "transformer.h.0.ln_1.bias");
  EXPECT_EQ(canonical_tensor_name("_orig_mod.transformer.wpe.weight"), "transformer.wpe.weight");
  EXPECT_EQ(canonical_tensor_name("lm_head.weight"), "lm_head.weight");
}

TEST(WeightFiles, FindTensorsWithThePrefixOrWithout) {
  TemporaryFolder folder;
  write_tensors<float>(folder / "model.safetensors", {"wte.weight", "transformer.wpe.weight"}, {1}, {1}, Dtype::kF32);
  const WeightFiles files(folder.path());
  EXPECT_EQ(files.tensors().size(), 2);
  EXPECT_NE(files.find("transformer.wte.weight"), nullptr);
  EXPECT_NE(files.find("transformer.wpe.weight"), nullptr);
  EXPECT_EQ(files.find("wte.weight"), nullptr);
}

TEST(WeightFiles, RefuseATensorUnderTwoNames) {
  TemporaryFolder folder;
  write_tensors<float>(folder / "x.safetensors", {"wte.weight", "transformer.wte.weight"}, {1}, {1}, Dtype::kF32);
  EXPECT_NE(message_of<FormatError>([&] { WeightFiles files(folder / "x.safetensors"); }).find("under one name"),
            std::string::npos);
}

TEST(WeightFiles, FollowAnIndex) {
  TemporaryFolder folder;
  write_one(folder / "a.safetensors", "wte.weight", 1);
  write_one(folder / "b.safetensors", "wpe.weight", 2);
  folder.write("model.safetensors.index.json",
               R"({"metadata": {}, "weight_map": {"wte.weight": "a.safetensors", "wpe.weight": "b.safetensors"}})");
  const WeightFiles files(folder.path());
  float number = 0;
  copy_floats(*files.find("transformer.wpe.weight"), {&number, 1});
  EXPECT_EQ(number, 2);
}

TEST(WeightFiles, RefuseAnIndexThatIsNotTrue) {
  TemporaryFolder folder;
  write_one(folder / "a.safetensors", "wte.weight", 1);
  const auto words = [&](const std::string& map) {
    folder.write("model.safetensors.index.json", "{\"weight_map\": " + map + "}");
    return message_of<FileError>([&] { WeightFiles files(folder.path()); });
  };
  EXPECT_NE(words(R"({"wpe.weight": "a.safetensors"})").find("expected the tensor \"wpe.weight\""), std::string::npos);
  EXPECT_NE(words(R"({"wte.weight": "gone.safetensors"})").find("gone.safetensors: cannot open"), std::string::npos);
  EXPECT_NE(words("7").find("weight_map"), std::string::npos);
  for (const char* name : {"../a.safetensors", "/etc/passwd", "", "..", "a\\u0000b"}) {
    EXPECT_NE(words(R"({"wte.weight": ")" + std::string(name) + "\"}").find("beside the index"), std::string::npos);
  }
}

TEST(WeightFiles, RefuseAFolderWithoutWeights) {
  TemporaryFolder folder;
  folder.write("pytorch_model.bin", "");
  EXPECT_NE(message_of<FileError>([&] { WeightFiles files(folder.path()); }).find("save_pretrained"),
            std::string::npos);
}

TEST(CopyFloats, WidensHalvesAndTurnsMatrices) {
  TemporaryFolder folder;
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  std::vector<BFloat16> wide;
  std::vector<Float16> narrow;
  for (const float number : numbers) {
    wide.push_back(BFloat16(number));
    narrow.push_back(Float16(number));
  }
  write_tensors(folder / "f32.safetensors", {"x"}, {2, 3}, numbers, Dtype::kF32);
  write_tensors(folder / "bf16.safetensors", {"x"}, {2, 3}, wide, Dtype::kBF16);
  write_tensors(folder / "f16.safetensors", {"x"}, {2, 3}, narrow, Dtype::kF16);
  for (const char* name : {"f32.safetensors", "bf16.safetensors", "f16.safetensors"}) {
    const WeightFiles files(folder / name);
    const StoredTensor& stored = *files.find("transformer.x");
    EXPECT_TRUE(is_float_tensor(stored));
    std::vector<float> out(6);
    copy_floats(stored, out);
    EXPECT_EQ(out, numbers) << name;
    copy_transposed(stored, 3, 2, out);
    EXPECT_EQ(out, (std::vector<float>{1, 4, 2, 5, 3, 6})) << name;
  }
}

TEST(CopyTransposed, OfMoreRowsThanAreTakenAtOnce) {
  std::vector<float> numbers(37 * 5);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const StoredTensor stored = {"x", Dtype::kF32, {37, 5}, std::as_bytes(std::span<const float>(numbers))};
  std::vector<float> out(numbers.size());
  copy_transposed(stored, 5, 37, out);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 37; ++j) ASSERT_EQ(out[i * 37 + j], numbers[j * 5 + i]) << i << " " << j;
  }
}

}  // namespace
}  // namespace firstlayer
