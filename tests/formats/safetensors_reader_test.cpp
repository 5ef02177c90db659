#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/safetensors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

const std::filesystem::path kGolden = std::filesystem::path(FIRSTLAYER_TEST_DATA) / "formats";

/// Bytes that count up from `first`, as tools/make_formats_golden.py fills its tensors.
std::vector<std::byte> counting(std::size_t count, unsigned first = 0) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i);
  return bytes;
}

std::vector<std::byte> bytes_of(const StoredTensor& tensor) { return {tensor.bytes.begin(), tensor.bytes.end()}; }

TEST(SafetensorsFile, ReadsEveryTypeThatHuggingFaceWrites) {
  SafetensorsFile file = SafetensorsFile::open(kGolden / "every_dtype.safetensors");
  const std::vector<std::pair<const char*, Dtype>> expected = {
      {"of bool", Dtype::kBool},  {"of uint8", Dtype::kU8},    {"of int8", Dtype::kI8},       {"of int16", Dtype::kI16},
      {"of uint16", Dtype::kU16}, {"of float16", Dtype::kF16}, {"of bfloat16", Dtype::kBF16}, {"of int32", Dtype::kI32},
      {"of uint32", Dtype::kU32}, {"of float32", Dtype::kF32}, {"of float64", Dtype::kF64},   {"of int64", Dtype::kI64},
      {"of uint64", Dtype::kU64}};
  ASSERT_EQ(file.tensors().size(), expected.size());
  const std::vector<unsigned> starts = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const StoredTensor* tensor = file.find(expected[i].first);
    ASSERT_NE(tensor, nullptr) << expected[i].first;
    EXPECT_EQ(tensor->dtype, expected[i].second) << expected[i].first;
    EXPECT_EQ(tensor->shape, std::vector<std::size_t>{2});
    EXPECT_EQ(bytes_of(*tensor), counting(2 * dtype_bytes(tensor->dtype), starts[i])) << expected[i].first;
  }
}

TEST(SafetensorsFile, ReadsEveryShapeAndTheMetadata) {
  SafetensorsFile file = SafetensorsFile::open(kGolden / "every_shape.safetensors");
  EXPECT_EQ(file.path(), kGolden / "every_shape.safetensors");
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  EXPECT_EQ(file.find("a")->shape, (std::vector<std::size_t>{1, 1, 1, 1}));
  EXPECT_EQ(file.find("scalar")->shape, std::vector<std::size_t>{});
  EXPECT_EQ(file.find("scalar")->bytes.size(), 4U);
  EXPECT_EQ(file.find("no rows")->shape, (std::vector<std::size_t>{0, 768}));
  EXPECT_TRUE(file.find("no rows")->bytes.empty());
}

TEST(SafetensorsFile, FindsOnlyExactNames) {
  SafetensorsFile file = SafetensorsFile::open(kGolden / "names.safetensors");
  EXPECT_EQ(file.find("line\nend\t\x01\x7f")->shape, std::vector<std::size_t>{1});
  EXPECT_EQ(file.find("é 中 😀")->name, "é 中 😀");
  EXPECT_NE(file.find(""), nullptr);
  EXPECT_EQ(file.find("A"), nullptr);
}

TEST(SafetensorsFile, AFileWithoutTensorsHasNone) {
  EXPECT_TRUE(SafetensorsFile::open(kGolden / "no_tensors.safetensors").tensors().empty());
}

TEST(SafetensorsFile, StaysReadableAfterAMove) {
  SafetensorsFile first = SafetensorsFile::open(kGolden / "every_shape.safetensors");
  SafetensorsFile file = std::move(first);
  EXPECT_EQ(bytes_of(*file.find("narrow")), counting(5));
}

TEST(SafetensorsFile, AMissingFileIsAnErrorThatNamesIt) {
  TemporaryFolder folder;
  EXPECT_EQ(message_of<FileError>([&] { SafetensorsFile::open(folder / "gone.safetensors"); }),
            (folder / "gone.safetensors").string() + ": cannot open: No such file or directory");
}

TEST(SafetensorsFile, AnEmptyFileIsRefused) {
  TemporaryFolder folder;
  std::filesystem::path path = folder.write("empty.safetensors", "");
  EXPECT_EQ(message_of<FormatError>([&] { SafetensorsFile::open(path); }),
            path.string() +
                ": header length: expected 8 bytes, received 0; the file is damaged or was cut off, get it "
                "again");
}

TEST(ReadMatrix, CopiesTheNumbers) {
  SafetensorsFile file = SafetensorsFile::open(kGolden / "every_shape.safetensors");
  Tensor<float, 2> matrix = file.read_matrix(*file.find("b"));
  EXPECT_EQ(matrix.shape(), (Shape<2>{2, 3}));
  EXPECT_EQ(std::memcmp(matrix.flat().data(), counting(24).data(), 24), 0);
}

TEST(ReadMatrix, AMatrixWithoutRowsIsLegal) {
  SafetensorsFile file = SafetensorsFile::open(kGolden / "every_shape.safetensors");
  EXPECT_EQ(file.read_matrix(*file.find("no rows")).shape(), (Shape<2>{0, 768}));
}

TEST(ReadMatrix, ReadsMisalignedNumbers) {
  TemporaryFolder folder;
  std::string json = R"({"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  while (json.size() % 4 != 1) json += ' ';
  std::uint64_t length = json.size();
  float values[] = {1.5F, -2.25F};
  std::string content(reinterpret_cast<const char*>(&length), 8);
  content += json + std::string(reinterpret_cast<const char*>(values), 8);
  SafetensorsFile file = SafetensorsFile::open(folder.write("odd.safetensors", content));
  ASSERT_NE(reinterpret_cast<std::uintptr_t>(file.find("x")->bytes.data()) % alignof(float), 0U);
  Tensor<float, 2> matrix = file.read_matrix(*file.find("x"));
  EXPECT_EQ(matrix.view()(0, 0), 1.5F);
  EXPECT_EQ(matrix.view()(0, 1), -2.25F);
}

TEST(ReadMatrix, AnotherTypeIsRefusedByNameWithTheMend) {
  std::filesystem::path path = kGolden / "every_dtype.safetensors";
  SafetensorsFile file = SafetensorsFile::open(path);
  EXPECT_EQ(message_of<FormatError>([&] { file.read_matrix(*file.find("of bfloat16")); }),
            path.string() +
                ": tensor \"of bfloat16\": expected a matrix of F32, received BF16 (2,); convert it to "
                "float32 first (x.float() in PyTorch)");
}

TEST(ReadMatrix, AnotherShapeIsRefused) {
  std::filesystem::path path = kGolden / "every_shape.safetensors";
  SafetensorsFile file = SafetensorsFile::open(path);
  EXPECT_EQ(message_of<FormatError>([&] { file.read_matrix(*file.find("a")); }),
            path.string() + ": tensor \"a\": expected a matrix of F32, received F32 (1, 1, 1, 1); name another tensor");
}

}  // namespace
}  // namespace firstlayer
