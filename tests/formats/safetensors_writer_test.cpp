#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/safetensors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::as_bytes;
using testing::message_of;
using testing::read_file;
using testing::TemporaryFolder;

const std::filesystem::path kGolden = std::filesystem::path(FIRSTLAYER_TEST_DATA) / "formats";

/// Writes again what a golden file holds, its tensors given in the reverse order and in parts of `part` bytes.
std::string rewrite(const std::filesystem::path& golden, std::size_t part) {
  SafetensorsFile file = SafetensorsFile::open(golden);
  std::vector<TensorSpec> specs;
  for (const StoredTensor& tensor : file.tensors()) {
    specs.insert(specs.begin(), {tensor.name, tensor.dtype, tensor.shape});
  }
  TemporaryFolder folder;
  SafetensorsWriter writer(folder / "copy.safetensors", specs, file.metadata());
  for (const TensorSpec& spec : writer.tensors()) {
    for (std::span<const std::byte> rest = file.find(spec.name)->bytes; !rest.empty();) {
      std::size_t step = std::min(part, rest.size());
      writer.append(rest.first(step));
      rest = rest.subspan(step);
    }
  }
  writer.commit();
  return read_file(folder / "copy.safetensors");
}

std::string invalid(const std::vector<TensorSpec>& specs, const std::map<std::string, std::string>& metadata = {}) {
  TemporaryFolder folder;
  std::string message =
      message_of<std::invalid_argument>([&] { SafetensorsWriter(folder / "x.safetensors", specs, metadata); });
  EXPECT_TRUE(folder.names().empty());
  return message;
}

TEST(SafetensorsWriter, WritesTheBytesOfHuggingFace) {
  for (const char* name : {"every_dtype", "every_shape", "names", "no_tensors"}) {
    std::filesystem::path golden = kGolden / (std::string(name) + ".safetensors");
    EXPECT_EQ(rewrite(golden, 1), read_file(golden)) << name;
    EXPECT_EQ(rewrite(golden, 1000), read_file(golden)) << name;
  }
}

TEST(SafetensorsWriter, OrdersWidestTypeFirstThenByName) {
  TemporaryFolder folder;
  SafetensorsWriter writer(
      folder / "x.safetensors",
      {{"inputs", Dtype::kI64, {1}}, {"b", Dtype::kF32, {1}}, {"a", Dtype::kF32, {1}}, {"mask", Dtype::kBool, {1}}});
  std::vector<std::string> order;
  for (const TensorSpec& spec : writer.tensors()) order.push_back(spec.name);
  EXPECT_EQ(order, (std::vector<std::string>{"inputs", "a", "b", "mask"}));
}

TEST(SafetensorsWriter, SortsMetadata) {
  TemporaryFolder folder;
  SafetensorsWriter writer(folder / "x.safetensors", {}, {{"b", "2"}, {"a", "1"}});
  writer.commit();
  EXPECT_EQ(read_file(folder / "x.safetensors").substr(8), R"({"__metadata__":{"a":"1","b":"2"}}      )");
}

TEST(SafetensorsWriter, ANameTwiceIsRefused) {
  EXPECT_EQ(invalid({{"a", Dtype::kF32, {1}}, {"b", Dtype::kF32, {1}}, {"a", Dtype::kI64, {2}}}),
            "[SafetensorsWriter] expected names that differ, received \"a\" twice");
}

TEST(SafetensorsWriter, TheReservedNameIsRefused) {
  EXPECT_EQ(invalid({{"__metadata__", Dtype::kF32, {1}}}),
            "[SafetensorsWriter] expected a tensor's name, received \"__metadata__\", which the format reserves");
}

TEST(SafetensorsWriter, TextThatIsNotUtf8IsRefused) {
  EXPECT_EQ(invalid({{"a\xff", Dtype::kF32, {1}}}),
            "[SafetensorsWriter] expected names and metadata in UTF-8, received \"a\\xff\"");
  EXPECT_EQ(invalid({}, {{"key", "\xc3"}}),
            "[SafetensorsWriter] expected names and metadata in UTF-8, received \"\\xc3\"");
}

TEST(SafetensorsWriter, BytesBeyond64BitsAreRefused) {
  constexpr std::size_t kHalf = std::size_t{1} << 63;
  EXPECT_EQ(invalid({{"a", Dtype::kU8, {kHalf, 2}}}),
            "[SafetensorsWriter] expected tensors whose bytes together fit 64 bits, received \"a\" of shape "
            "(9223372036854775808, 2)");
  EXPECT_EQ(invalid({{"a", Dtype::kU8, {kHalf}}, {"b", Dtype::kU8, {kHalf}}}),
            "[SafetensorsWriter] expected tensors whose bytes together fit 64 bits, received \"b\" of shape "
            "(9223372036854775808,)");
}

TEST(SafetensorsWriter, MoreAxesThanTheReaderTakesAreRefused) {
  EXPECT_EQ(invalid({{"a", Dtype::kU8, std::vector<std::size_t>(65, 1)}}),
            "[SafetensorsWriter] expected at most 64 axes, received 65 in \"a\"");
}

TEST(SafetensorsWriter, AHeaderLongerThanReadersTakeIsRefused) {
  EXPECT_EQ(invalid({}, {{"key", std::string(100'000'000, 'x')}}),
            "[SafetensorsWriter] expected a header of at most 100000000 bytes, received more");
}

TEST(SafetensorsWriter, BytesPastTheTensorAreRefused) {
  TemporaryFolder folder;
  SafetensorsWriter writer(folder / "x.safetensors", {{"a", Dtype::kU8, {3}}, {"b", Dtype::kU8, {3}}});
  writer.append(as_bytes("1"));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.append(as_bytes("234")); }),
            "[SafetensorsWriter::append] expected at most 2 bytes left of tensor \"a\", received 3");
  writer.append(as_bytes("23"));
  writer.append(as_bytes("456"));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.append(as_bytes("7")); }),
            "[SafetensorsWriter::append] expected at most 0 bytes, every tensor being whole, received 1");
  writer.commit();
  EXPECT_TRUE(read_file(folder / "x.safetensors").ends_with("123456"));
}

TEST(SafetensorsWriter, AShortTensorIsNotCommitted) {
  TemporaryFolder folder;
  {
    SafetensorsWriter writer(folder / "x.safetensors",
                             {{"none", Dtype::kI64, {0}}, {"a", Dtype::kU8, {3}}, {"b", Dtype::kU8, {3}}});
    writer.append(as_bytes("123"));
    writer.append(as_bytes("4"));
    EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.commit(); }),
              "[SafetensorsWriter::commit] expected every tensor whole, received \"b\" with 2 bytes missing");
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(SafetensorsWriter, AFullDiskIsAnError) {
  EXPECT_EQ(message_of<FileError>([&] { SafetensorsWriter("/dev/full", {}).commit(); }),
            "/dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace firstlayer
