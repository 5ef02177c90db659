#include "firstlayer/formats/safetensors_header.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::as_bytes;
using testing::message_of;

constexpr std::string_view kRewrite = "; write the file again with a safetensors library";
constexpr std::string_view kGetAgain = "; the file is damaged or was cut off, get it again";

std::string length_bytes(std::uint64_t length) { return {reinterpret_cast<const char*>(&length), sizeof(length)}; }

/// A file of `json` and `data_bytes` zeros.
std::string file_of(std::string_view json, std::size_t data_bytes = 0) {
  return length_bytes(json.size()) + std::string(json) + std::string(data_bytes, '\0');
}

/// An entry of the header.
std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return '"' + std::string(name) + R"(":{"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) +
         R"(,"data_offsets":)" + std::string(offsets) + '}';
}

std::string file_error(std::string_view file) {
  return message_of<FormatError>([&] { parse_safetensors(as_bytes(file), "m.safetensors"); });
}

std::string error_of(std::string_view json, std::size_t data_bytes = 0) {
  return file_error(file_of(json, data_bytes));
}

/// "m.safetensors: WORDS; MEND".
std::string refusal(std::string_view words, std::string_view mend = kRewrite) {
  return "m.safetensors: " + std::string(words) + std::string(mend);
}

TEST(SafetensorsHeader, ReadsEntriesInAnyOrderOfKeysAndSpace) {
  std::string json =
      "{ \"b\" : { \"data_offsets\":[4,12],\n\"shape\" : [ 2 ] , \"dtype\":\"F32\" }, "
      "\"__metadata__\":{\"format\":\"pt\",\"by\":\"hand\"}, " +
      entry("a", "U8", "[2,2]", "[0,4]") + " }  \t\n";
  std::string file = file_of(json, 12);
  SafetensorsContent content = parse_safetensors(as_bytes(file), "m.safetensors");
  EXPECT_EQ(content.metadata, (std::map<std::string, std::string>{{"by", "hand"}, {"format", "pt"}}));
  ASSERT_EQ(content.tensors.size(), 2U);
  EXPECT_EQ(content.tensors[0].name, "a");
  EXPECT_EQ(content.tensors[0].dtype, Dtype::kU8);
  EXPECT_EQ(content.tensors[0].shape, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(content.tensors[0].bytes.data(), as_bytes(file).last(12).data());
  EXPECT_EQ(content.tensors[1].name, "b");
  EXPECT_EQ(content.tensors[1].bytes.size(), 8U);
}

TEST(SafetensorsHeader, NoTensorsAreLegal) {
  EXPECT_TRUE(parse_safetensors(as_bytes(file_of("{}")), "").tensors.empty());
  EXPECT_TRUE(parse_safetensors(as_bytes(file_of(R"({"__metadata__":{}})")), "").tensors.empty());
}

TEST(SafetensorsHeader, ScalarsAndTensorsWithoutElementsAreLegal) {
  std::string file = file_of('{' + entry("none", "F32", "[0,768]", "[4,4]") + ',' + entry("one", "F32", "[]", "[0,4]") +
                                 ',' + entry("huge", "F32", "[18446744073709551615,9,0]", "[0,0]") + '}',
                             4);
  SafetensorsContent content = parse_safetensors(as_bytes(file), "");
  ASSERT_EQ(content.tensors.size(), 3U);
  EXPECT_EQ(content.tensors[0].name, "huge");
  EXPECT_EQ(content.tensors[1].name, "one");
  EXPECT_EQ(content.tensors[1].bytes.size(), 4U);
  EXPECT_EQ(content.tensors[2].bytes.size(), 0U);
}

TEST(SafetensorsHeader, AFileShorterThanItsLengthIsRefused) {
  EXPECT_EQ(file_error(""), refusal("header length: expected 8 bytes, received 0", kGetAgain));
  EXPECT_EQ(file_error("1234567"), refusal("header length: expected 8 bytes, received 7", kGetAgain));
}

TEST(SafetensorsHeader, ALengthBeyondTheLimitIsRefused) {
  std::string_view mend = "; this is not a safetensors file";
  EXPECT_EQ(file_error(length_bytes(100'000'001) + "{}"),
            refusal("header length: expected at most 100000000 bytes, received 100000001", mend));
  EXPECT_EQ(file_error(length_bytes(UINT64_MAX) + "{}"),
            refusal("header length: expected at most 100000000 bytes, received 18446744073709551615", mend));
}

TEST(SafetensorsHeader, ALengthBeyondTheFileIsRefused) {
  EXPECT_EQ(file_error(length_bytes(3) + "{}"), refusal("header: expected 3 bytes, received 2", kGetAgain));
  EXPECT_EQ(file_error(length_bytes(100'000'000)), refusal("header: expected 100000000 bytes, received 0", kGetAgain));
}

TEST(SafetensorsHeader, MustBeginWithABrace) {
  std::string_view mend = "; this is not a safetensors file";
  EXPECT_EQ(error_of(" {}"), refusal(R"(header: expected JSON that begins with {, received " ")", mend));
  EXPECT_EQ(error_of("\xef\xbb\xbf{}"), refusal(R"(header: expected JSON that begins with {, received "\xef")", mend));
  EXPECT_EQ(error_of(""), refusal(R"(header: expected JSON that begins with {, received "")", mend));
}

TEST(SafetensorsHeader, BrokenJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(error_of("{\"a\" 5}"),
            refusal(R"(header: expected JSON in UTF-8, received "5" at byte 14 of the file)", kGetAgain));
  EXPECT_EQ(error_of("{"),
            refusal(R"(header: expected JSON in UTF-8, received "{" at byte 10 of the file)", kGetAgain));
  EXPECT_EQ(error_of("{}x"),
            refusal(R"(header: expected JSON in UTF-8, received "{}x" at byte 11 of the file)", kGetAgain));
}

TEST(SafetensorsHeader, InvalidUtf8IsRefusedAndPrintedEscaped) {
  EXPECT_EQ(error_of("{\"\xff\":1}"),
            refusal(R"(header: expected JSON in UTF-8, received "\"\xff" at byte 11 of the file)", kGetAgain));
}

TEST(SafetensorsHeader, AZeroByteDoesNotHideWhatFollows) {
  EXPECT_EQ(error_of(std::string("{}\0{\"a\":", 8)),
            refusal("header: expected JSON in UTF-8, received a zero byte at byte 10 of the file", kGetAgain));
}

TEST(SafetensorsHeader, DeepNestingIsRefusedWhereItBegins) {
  std::string brackets(1'000'000, '[');
  EXPECT_EQ(error_of("{\"a\":" + brackets),
            refusal(R"(tensor "a": expected an object with dtype, shape and data_offsets, received a list)"));
  EXPECT_EQ(error_of(R"({"a":{"shape":[)" + brackets),
            refusal(R"(tensor "a", shape: expected a list of at most 64 whole numbers below 2^64, received a list)"));
  EXPECT_EQ(error_of(R"({"__metadata__":{"a":)" + brackets),
            refusal(R"(__metadata__, key "a": expected a string, received a list)"));
  std::string objects;
  for (int depth = 0; depth < 100'000; ++depth) objects += "{\"a\":";
  EXPECT_EQ(error_of(objects), refusal(R"(tensor "a": expected the keys dtype, shape and data_offsets, received "a")"));
}

TEST(SafetensorsHeader, ATensorTwiceIsRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "U8", "[1]", "[0,1]") + ',' + entry("b", "U8", "[1]", "[1,2]") + ',' +
                         entry("a", "U8", "[1]", "[2,3]") + '}',
                     3),
            refusal(R"(header: expected each key once, received "a" twice)"));
}

TEST(SafetensorsHeader, ANameTwiceInDifferentSpellingsIsRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "U8", "[1]", "[0,1]") + ',' + entry("\\u0061", "U8", "[1]", "[1,2]") + '}', 2),
            refusal(R"(header: expected each key once, received "a" twice)"));
}

TEST(SafetensorsHeader, AKeyTwiceInAnEntryIsRefused) {
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","dtype":"U8"}})"),
            refusal(R"(tensor "a": expected each key once, received "dtype" twice)"));
  EXPECT_EQ(error_of(R"({"a":{"shape":[],"shape":[]}})"),
            refusal(R"(tensor "a": expected each key once, received "shape" twice)"));
  EXPECT_EQ(error_of(R"({"a":{"data_offsets":[0,0],"data_offsets":[0,0]}})"),
            refusal(R"(tensor "a": expected each key once, received "data_offsets" twice)"));
}

TEST(SafetensorsHeader, MetadataTwiceIsRefused) {
  EXPECT_EQ(error_of(R"({"__metadata__":{},"__metadata__":{}})"),
            refusal(R"(header: expected each key once, received "__metadata__" twice)"));
  EXPECT_EQ(error_of(R"({"__metadata__":{"a":"","a":""}})"),
            refusal(R"(__metadata__: expected each key once, received "a" twice)"));
}

TEST(SafetensorsHeader, MetadataOfOtherThanStringsIsRefused) {
  EXPECT_EQ(error_of(R"({"__metadata__":null})"),
            refusal("__metadata__: expected an object of strings, received null"));
  EXPECT_EQ(error_of(R"({"__metadata__":{"step":5}})"),
            refusal(R"(__metadata__, key "step": expected a string, received 5)"));
  EXPECT_EQ(error_of(R"({"__metadata__":{"nested":{}}})"),
            refusal(R"(__metadata__, key "nested": expected a string, received an object)"));
}

TEST(SafetensorsHeader, AnUnknownTypeIsRefusedByName) {
  EXPECT_EQ(error_of('{' + entry("a", "F8_E4M3", "[1]", "[0,1]") + '}', 1),
            refusal("tensor \"a\", dtype: expected BOOL, U8, I8, I16, U16, F16, BF16, I32, U32, F32, F64, I64 or U64, "
                    "received \"F8_E4M3\"",
                    "; convert the tensor to one of these"));
}

TEST(SafetensorsHeader, AnUnknownKeyIsRefused) {
  EXPECT_EQ(error_of(R"({"a":{"strides":[1]}})"),
            refusal(R"(tensor "a": expected the keys dtype, shape and data_offsets, received "strides")"));
}

TEST(SafetensorsHeader, AMissingKeyIsRefused) {
  EXPECT_EQ(error_of(R"({"a":{}})"),
            refusal(R"(tensor "a": expected the keys dtype, shape and data_offsets, received no dtype)"));
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8"}})"),
            refusal(R"(tensor "a": expected the keys dtype, shape and data_offsets, received no shape)"));
  EXPECT_EQ(error_of(R"({"a":{"dtype":"U8","shape":[]}})"),
            refusal(R"(tensor "a": expected the keys dtype, shape and data_offsets, received no data_offsets)"));
}

TEST(SafetensorsHeader, ValuesOfTheWrongKindAreRefused) {
  EXPECT_EQ(error_of(R"({"a":"F32"})"),
            refusal(R"(tensor "a": expected an object with dtype, shape and data_offsets, received the text "F32")"));
  EXPECT_EQ(error_of(R"({"a":{"dtype":4}})"), refusal(R"(tensor "a", dtype: expected the name of a type, received 4)"));
  EXPECT_EQ(error_of(R"({"a":{"shape":true}})"),
            refusal(R"(tensor "a", shape: expected a list of at most 64 whole numbers below 2^64, received true)"));
  EXPECT_EQ(error_of(R"({"a":{"data_offsets":false}})"),
            refusal(R"(tensor "a", data_offsets: expected a list of two whole numbers below 2^64, received false)"));
}

TEST(SafetensorsHeader, NegativeFractionalAndHugeNumbersAreRefused) {
  for (const char* number : {"-1", "1.0", "1e3", "18446744073709551616"}) {
    EXPECT_EQ(error_of(R"({"a":{"shape":[)" + std::string(number) + "]}}"),
              refusal(R"(tensor "a", shape: expected a list of at most 64 whole numbers below 2^64, received )" +
                      std::string(number)));
    EXPECT_EQ(error_of(R"({"a":{"data_offsets":[0,)" + std::string(number) + "]}}"),
              refusal(R"(tensor "a", data_offsets: expected a list of two whole numbers below 2^64, received )" +
                      std::string(number)));
  }
}

TEST(SafetensorsHeader, ALongNumberIsCutInTheMessage) {
  EXPECT_EQ(error_of(R"({"a":{"shape":[)" + std::string(300, '7') + "]}}"),
            refusal(R"(tensor "a", shape: expected a list of at most 64 whole numbers below 2^64, received )" +
                    std::string(40, '7') + "…"));
}

TEST(SafetensorsHeader, OffsetsThatAreNotTwoAreRefused) {
  EXPECT_EQ(
      error_of(R"({"a":{"data_offsets":[0]}})"),
      refusal(R"(tensor "a", data_offsets: expected a list of two whole numbers below 2^64, received a list of 1)"));
  EXPECT_EQ(error_of(R"({"a":{"data_offsets":[0,1,2]}})"),
            refusal(R"(tensor "a", data_offsets: expected a list of two whole numbers below 2^64, received a third)"));
}

TEST(SafetensorsHeader, MoreAxesThanNumPyHasAreRefused) {
  auto shape = [](int axes) {
    std::string text = "[1";
    for (int axis = 1; axis < axes; ++axis) text += ",1";
    return text + ']';
  };
  EXPECT_EQ(parse_safetensors(as_bytes(file_of('{' + entry("a", "U8", shape(64), "[0,1]") + '}', 1)), "")
                .tensors[0]
                .shape.size(),
            64U);
  EXPECT_EQ(error_of('{' + entry("a", "U8", shape(65), "[0,1]") + '}', 1),
            refusal(R"(tensor "a", shape: expected a list of at most 64 whole numbers below 2^64, received one more)"));
}

TEST(SafetensorsHeader, OffsetsThatDescendAreRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "U8", "[1]", "[1,0]") + '}', 1),
            refusal(R"(tensor "a": expected data_offsets that ascend, received [1, 0])"));
}

TEST(SafetensorsHeader, AShapeWhoseBytesOverflowIsRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "F32", "[4611686018427387904,4]", "[0,0]") + '}'),
            refusal(R"(tensor "a": expected a shape whose bytes fit 64 bits, received F32 (4611686018427387904, 4))"));
}

TEST(SafetensorsHeader, OffsetsThatDoNotFitTheShapeAreRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "F32", "[2,3]", "[0,20]") + '}', 20),
            refusal(R"(tensor "a": expected 24 bytes for F32 (2, 3), received 20 from data_offsets [0, 20])"));
}

TEST(SafetensorsHeader, AHoleIsRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "U8", "[1]", "[0,1]") + ',' + entry("b", "U8", "[1]", "[2,3]") + '}', 3),
            refusal(R"(tensor "b": expected its bytes to begin at 1, received 2, which leaves a hole)"));
  EXPECT_EQ(error_of('{' + entry("a", "U8", "[1]", "[1,2]") + '}', 2),
            refusal(R"(tensor "a": expected its bytes to begin at 0, received 1, which leaves a hole)"));
}

TEST(SafetensorsHeader, OverlapIsRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "U8", "[2]", "[0,2]") + ',' + entry("b", "U8", "[2]", "[1,3]") + '}', 3),
            refusal(R"(tensor "b": expected its bytes to begin at 2, received 1, which overlaps the tensor before)"));
}

TEST(SafetensorsHeader, TwoNamesForTheSameBytesAreRefused) {
  EXPECT_EQ(
      error_of('{' + entry("wte", "U8", "[2]", "[0,2]") + ',' + entry("lm_head", "U8", "[2]", "[0,2]") + '}', 2),
      refusal(R"(tensor "lm_head": expected its bytes to begin at 2, received 0, which overlaps the tensor before)"));
}

TEST(SafetensorsHeader, AFileCutOffInItsTensorsIsRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "F32", "[2,3]", "[0,24]") + '}', 10),
            refusal("tensors: expected 24 bytes after the header, received 10", kGetAgain));
}

TEST(SafetensorsHeader, TrailingBytesAreRefused) {
  EXPECT_EQ(error_of('{' + entry("a", "U8", "[1]", "[0,1]") + '}', 3),
            refusal("tensors: expected 1 bytes after the header, received 3",
                    "; something was appended to the file: get it again"));
  EXPECT_EQ(error_of("{}", 1), refusal("tensors: expected 0 bytes after the header, received 1",
                                       "; something was appended to the file: get it again"));
}

TEST(SafetensorsHeader, NamesArePrintedOnOneLine) {
  EXPECT_EQ(error_of(R"({"w\n\u001b[31m\u0000":5})"),
            refusal(R"(tensor "w\n\x1b[31m\x00": expected an object with dtype, shape and data_offsets, received 5)"));
}

}  // namespace
}  // namespace firstlayer
