#include "firstlayer/formats/stored_rows.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/half.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

/// Writes `values` as tensor "x" of shape (rows, columns).
template <class T>
std::filesystem::path write_tensor(const TemporaryFolder& folder, const std::vector<T>& values,
                                   const std::vector<std::size_t>& shape) {
  const std::filesystem::path path = folder / "x.safetensors";
  SafetensorsWriter writer(path, {{"x", kDtypeOf<T>, shape}});
  writer.append(std::as_bytes(std::span(values)));
  writer.commit();
  return path;
}

template <class T>
std::vector<float> second_and_first(const std::vector<T>& values) {
  TemporaryFolder folder;
  const SafetensorsFile file = SafetensorsFile::open(write_tensor(folder, values, {3, 2}));
  const StoredRows rows(file, *file.find("x"));
  EXPECT_EQ(rows.shape(), (Shape<2>{3, 2}));
  Tensor<float, 2> out({2, 2});
  rows.read(std::vector<TokenId>{1, 0}, out);
  const Tensor<float, 2> all = rows.read_all();
  EXPECT_EQ(all.view()(1, 0), out.view()(0, 0));
  EXPECT_EQ(all.view()(2, 1), static_cast<float>(values[5]));
  return {out.flat().begin(), out.flat().end()};
}

TEST(StoredRows, OfEveryFloat) {
  const std::vector<float> expected = {3, 4, 1, 2.5F};
  EXPECT_EQ(second_and_first(std::vector<float>{1, 2.5F, 3, 4, 5, 6}), expected);
  EXPECT_EQ(second_and_first(std::vector<double>{1, 2.5, 3, 4, 5, 1e-300}), expected);
  std::vector<BFloat16> brain;
  std::vector<Float16> half;
  for (const float value : {1.0F, 2.5F, 3.0F, 4.0F, 5.0F, 6.0F}) {
    brain.emplace_back(value);
    half.emplace_back(value);
  }
  EXPECT_EQ(second_and_first(brain), expected);
  EXPECT_EQ(second_and_first(half), expected);
}

TEST(StoredRows, OfAnNpyFile) {
  const std::filesystem::path path = std::filesystem::path(FIRSTLAYER_TEST_DATA) / "formats" / "float64.npy";
  const NpyFile file = NpyFile::open(path);
  const Tensor<float, 2> all = StoredRows(file, path).read_all(2);
  EXPECT_EQ(std::vector<float>(all.flat().begin(), all.flat().end()), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(StoredRows, OtherTensorsAreRefused) {
  TemporaryFolder folder;
  const std::filesystem::path ints = write_tensor(folder, std::vector<std::int32_t>{1, 2}, {1, 2});
  const SafetensorsFile file = SafetensorsFile::open(ints);
  EXPECT_EQ(message_of<FormatError>([&] { StoredRows(file, *file.find("x")); }),
            ints.string() +
                ": tensor \"x\": expected a matrix of F32, F16, BF16 or F64, received I32 (1, 2); convert "
                "it to float32 first");
  const std::filesystem::path cube = write_tensor(folder, std::vector<float>{1, 2}, {1, 1, 2});
  const SafetensorsFile second = SafetensorsFile::open(cube);
  EXPECT_EQ(message_of<FormatError>([&] { StoredRows(second, *second.find("x")); }),
            cube.string() +
                ": tensor \"x\": expected a matrix of F32, F16, BF16 or F64, received F32 (1, 1, 2); name "
                "another");
}

TEST(StoredRows, RowsThatAreNotThereAreRefused) {
  TemporaryFolder folder;
  const SafetensorsFile file = SafetensorsFile::open(write_tensor(folder, std::vector<float>{1, 2}, {1, 2}));
  const StoredRows rows(file, *file.find("x"));
  Tensor<float, 2> out({1, 2});
  EXPECT_EQ(message_of<std::out_of_range>([&] { rows.read(std::vector<TokenId>{1}, out); }),
            "[StoredRows::read] expected ids below V = 1, received 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { rows.read({}, out); }),
            "[StoredRows::read] expected room for rows of shape (0, 2), received (1, 2)");
}

/// A file of 10 GB that takes a few blocks on the disk, for all but its header is a hole.
TEST(StoredRows, RowsOfAFileLargerThanMemory) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  constexpr std::uint64_t kRows = 3'000'000;
  const std::string bytes = std::to_string(kRows * 768 * sizeof(float));
  std::string header = R"({"wte.weight":{"dtype":"F32","shape":[)" + std::to_string(kRows) +
                       R"(,768],"data_offsets":[0,)" + bytes + "]}}";
  header.append(8 - header.size() % 8, ' ');
  const std::uint64_t length = header.size();
  std::string start(reinterpret_cast<const char*>(&length), sizeof(length));
  folder.write("x.safetensors", start + header);
  std::error_code error;
  std::filesystem::resize_file(path, start.size() + header.size() + kRows * 768 * sizeof(float), error);
  if (error) GTEST_SKIP() << "this file system takes no file of 9 GB: " << error.message();

  const SafetensorsFile file = SafetensorsFile::open(path);
  const StoredRows rows(file, *file.find("wte.weight"));
  Tensor<float, 2> out({2, 768});
  out.view()(1, 5) = 1.0F;
  rows.read(std::vector<TokenId>{7, kRows - 1}, out);
  EXPECT_EQ(out.view()(1, 5), 0.0F);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_LT(status.st_blocks, 1000);  // nothing was written, and the rest was not filled in
}

}  // namespace
}  // namespace firstlayer
