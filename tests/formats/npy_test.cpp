#include "firstlayer/formats/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::as_bytes;
using testing::message_of;
using testing::read_file;
using testing::TemporaryFolder;

const std::filesystem::path kGolden = std::filesystem::path(FIRSTLAYER_TEST_DATA) / "formats";

/// Writes again what a golden file holds, in parts of `part` bytes.
std::string rewrite(const std::filesystem::path& golden, std::size_t part) {
  NpyFile file = NpyFile::open(golden);
  TemporaryFolder folder;
  NpyWriter writer(folder / "copy.npy", file.dtype(), file.shape());
  for (std::span<const std::byte> rest = file.bytes(); !rest.empty();) {
    std::size_t step = std::min(part, rest.size());
    writer.append(rest.first(step));
    rest = rest.subspan(step);
  }
  writer.commit();
  return read_file(folder / "copy.npy");
}

template <class T>
std::vector<T> values_of(const NpyFile& file) {
  EXPECT_EQ(file.dtype(), kDtypeOf<T>);
  std::vector<T> values(file.bytes().size() / sizeof(T));
  std::memcpy(values.data(), file.bytes().data(), file.bytes().size());
  return values;
}

TEST(NpyFile, ReadsNumPysNumbers) {
  EXPECT_EQ(values_of<float>(NpyFile::open(kGolden / "float32.npy")), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of<double>(NpyFile::open(kGolden / "float64.npy")), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of<std::int64_t>(NpyFile::open(kGolden / "int64.npy")),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of<std::uint16_t>(NpyFile::open(kGolden / "uint16.npy")),
            (std::vector<std::uint16_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(NpyFile::open(kGolden / "bool.npy").dtype(), Dtype::kBool);
  EXPECT_EQ(NpyFile::open(kGolden / "float16.npy").dtype(), Dtype::kF16);
}

TEST(NpyFile, ReadsEveryShape) {
  EXPECT_EQ(NpyFile::open(kGolden / "float32.npy").shape(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(NpyFile::open(kGolden / "scalar.npy").shape(), std::vector<std::size_t>{});
  EXPECT_EQ(values_of<float>(NpyFile::open(kGolden / "scalar.npy")), std::vector<float>{1.5F});
  EXPECT_EQ(NpyFile::open(kGolden / "one_axis.npy").shape(), std::vector<std::size_t>{3});
  EXPECT_EQ(NpyFile::open(kGolden / "no_rows.npy").shape(), (std::vector<std::size_t>{0, 768}));
}

TEST(NpyFile, ReadsVersions2And3) {
  EXPECT_EQ(values_of<float>(NpyFile::open(kGolden / "version_2.npy")), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(values_of<float>(NpyFile::open(kGolden / "version_3.npy")), (std::vector<float>{0, 1, 2}));
}

TEST(NpyFile, StaysReadableAfterAMove) {
  NpyFile first = NpyFile::open(kGolden / "one_axis.npy");
  NpyFile file = std::move(first);
  EXPECT_EQ(values_of<float>(file), (std::vector<float>{0, 1, 2}));
}

TEST(NpyFile, AMissingFileIsAnErrorThatNamesIt) {
  TemporaryFolder folder;
  EXPECT_EQ(message_of<FileError>([&] { NpyFile::open(folder / "gone.npy"); }),
            (folder / "gone.npy").string() + ": cannot open: No such file or directory");
}

TEST(NpyFile, AnEmptyFileIsRefused) {
  TemporaryFolder folder;
  std::filesystem::path path = folder.write("empty.npy", "");
  EXPECT_EQ(message_of<FormatError>([&] { NpyFile::open(path); }),
            path.string() + ": magic: expected 6 bytes, received 0; the file is damaged or was cut off, get it again");
}

TEST(NpyWriter, WritesTheBytesOfNumPy) {
  for (const char* name : {"bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32",
                           "float64", "int64", "uint64", "scalar", "one_axis", "no_rows", "full_padding"}) {
    std::filesystem::path golden = kGolden / (std::string(name) + ".npy");
    EXPECT_EQ(rewrite(golden, 1), read_file(golden)) << name;
    EXPECT_EQ(rewrite(golden, 1000), read_file(golden)) << name;
  }
}

TEST(NpyWriter, TheLargestHeaderFitsVersion1) {
  TemporaryFolder folder;
  std::vector<std::size_t> shape(64, SIZE_MAX);
  shape[0] = 0;
  NpyWriter writer(folder / "x.npy", Dtype::kF32, shape);
  writer.commit();
  EXPECT_EQ(NpyFile::open(folder / "x.npy").shape(), shape);
  EXPECT_EQ(read_file(folder / "x.npy").size() % 64, 0U);
}

TEST(NpyWriter, WhatNumPyHasNotIsRefused) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { NpyWriter("x.npy", Dtype::kBF16, {1}); }),
            "[NpyWriter] expected a type that NumPy has, received BF16");
  EXPECT_EQ(message_of<std::invalid_argument>([] { NpyWriter("x.npy", Dtype::kU8, std::vector<std::size_t>(65, 1)); }),
            "[NpyWriter] expected at most 64 axes, received 65");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              NpyWriter("x.npy", Dtype::kF32, {std::size_t{1} << 62, 1});
            }),
            "[NpyWriter] expected a shape whose bytes fit 64 bits, received (4611686018427387904, 1)");
}

TEST(NpyWriter, BytesPastTheEndAreRefused) {
  TemporaryFolder folder;
  NpyWriter writer(folder / "x.npy", Dtype::kU8, {3});
  writer.append(as_bytes("1"));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.append(as_bytes("234")); }),
            "[NpyWriter::append] expected at most 2 bytes left of the array, received 3");
  writer.append(as_bytes("23"));
  writer.commit();
  EXPECT_TRUE(read_file(folder / "x.npy").ends_with("123"));
}

TEST(NpyWriter, AShortArrayIsNotCommitted) {
  TemporaryFolder folder;
  {
    NpyWriter writer(folder / "x.npy", Dtype::kF32, {3});
    writer.append(as_bytes("1234"));
    EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.commit(); }),
              "[NpyWriter::commit] expected the whole array, received 8 bytes too few");
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(NpyWriter, AFullDiskIsAnError) {
  EXPECT_EQ(message_of<FileError>([&] { NpyWriter("/dev/full", Dtype::kU8, {0}).commit(); }),
            "/dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace firstlayer
