#include "firstlayer/formats/npy_header.h"

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

constexpr std::string_view kRewrite = "; write the file again with numpy.save";
constexpr std::string_view kGetAgain = "; the file is damaged or was cut off, get it again";

/// A version 1.0 file of `dict` and `data_bytes` zeros.
std::string file_of(std::string_view dict, std::size_t data_bytes = 0) {
  auto length = static_cast<std::uint16_t>(dict.size());
  return "\x93NUMPY" + std::string("\x01\x00", 2) + std::string(reinterpret_cast<const char*>(&length), 2) +
         std::string(dict) + std::string(data_bytes, '\0');
}

std::string dict_of(std::string_view descr, std::string_view order, std::string_view shape) {
  return "{'descr': " + std::string(descr) + ", 'fortran_order': " + std::string(order) +
         ", 'shape': " + std::string(shape) + ", }";
}

NpyContent parse(std::string_view file) { return parse_npy(as_bytes(file), "x.npy"); }

std::string file_error(std::string_view file) {
  return message_of<FormatError>([&] { parse(file); });
}

std::string error_of(std::string_view dict, std::size_t data_bytes = 0) {
  return file_error(file_of(dict, data_bytes));
}

/// "x.npy: WORDS; MEND".
std::string refusal(std::string_view words, std::string_view mend = kRewrite) {
  return "x.npy: " + std::string(words) + std::string(mend);
}

TEST(NpyHeader, ReadsWhatPythonWouldReadTheSame) {
  std::string file = file_of("{\"shape\":(2,3,),\n'fortran_order':False , \"descr\":'<u2'}\t \n", 12);
  NpyContent content = parse(file);
  EXPECT_EQ(content.dtype, Dtype::kU16);
  EXPECT_EQ(content.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(content.bytes.data(), as_bytes(file).last(12).data());
  EXPECT_EQ(content.bytes.size(), 12U);
}

TEST(NpyHeader, ScalarsAndArraysWithoutElementsAreLegal) {
  EXPECT_TRUE(parse(file_of(dict_of("'<f8'", "False", "( )"), 8)).shape.empty());
  EXPECT_TRUE(parse(file_of(dict_of("'<f8'", "False", "(18446744073709551615, 9, 0)"))).bytes.empty());
}

TEST(NpyHeader, EveryTypeButBf16HasANumPyName) {
  EXPECT_EQ(npy_descr(Dtype::kF32), "<f4");
  EXPECT_EQ(npy_descr(Dtype::kBool), "|b1");
  EXPECT_EQ(npy_descr(Dtype::kBF16), "");
}

TEST(NpyHeader, AFileCutOffAnywhereIsRefused) {
  std::string file = file_of(dict_of("'|u1'", "False", "(2,)"), 2);
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_TRUE(file_error(std::string_view(file).substr(0, length)).ends_with(kGetAgain)) << length;
  }
  EXPECT_EQ(file_error(""), refusal("magic: expected 6 bytes, received 0", kGetAgain));
  EXPECT_EQ(file_error("\x93NUMPY\x01"), refusal("version: expected 2 bytes, received 1", kGetAgain));
}

TEST(NpyHeader, AnotherMagicIsRefused) {
  EXPECT_EQ(file_error("PK\x03\x04 zip"),
            refusal(R"(magic: expected "\x93NUMPY", received "PK\x03\x04 z")",
                    "; this is not a .npy file (an .npz is a zip archive of them: unpack it)"));
}

TEST(NpyHeader, AnUnknownVersionIsRefused) {
  EXPECT_EQ(file_error("\x93NUMPY\x04" + std::string(20, '\0')),
            refusal("version: expected 1.0, 2.0 or 3.0, received 4.0"));
  EXPECT_EQ(file_error("\x93NUMPY\x01\x01" + std::string(20, '\0')),
            refusal("version: expected 1.0, 2.0 or 3.0, received 1.1"));
  EXPECT_EQ(file_error("\x93NUMPY" + std::string(20, '\0')),
            refusal("version: expected 1.0, 2.0 or 3.0, received 0.0"));
}

TEST(NpyHeader, ALengthBeyondTheFileIsRefused) {
  EXPECT_EQ(file_error("\x93NUMPY" + std::string("\x02\x00\xff\xff\xff\xff{}", 8)),
            refusal("header: expected 4294967295 bytes, received 2", kGetAgain));
}

TEST(NpyHeader, ColumnMajorOrderIsRefused) {
  EXPECT_EQ(error_of(dict_of("'<f4'", "True", "(2, 3)"), 24),
            refusal("fortran_order: expected row-major order (False), received column-major (True)",
                    "; save numpy.ascontiguousarray(array)"));
}

TEST(NpyHeader, BigEndianNumbersAreRefused) {
  EXPECT_EQ(error_of(dict_of("'>f4'", "False", "(1,)"), 4),
            refusal("descr: expected little-endian numbers, received big-endian \">f4\"",
                    "; save array.astype(array.dtype.newbyteorder('<'))"));
}

TEST(NpyHeader, ObjectsAreRefused) {
  EXPECT_EQ(error_of(dict_of("'|O'", "False", "(1,)"), 8),
            refusal("descr: expected one number type, received Python objects \"|O\"",
                    "; save an array of numbers; objects are never loaded"));
}

TEST(NpyHeader, StructuredTypesAreRefused) {
  EXPECT_EQ(error_of(dict_of("[('id', '<i4'), ('x', '<f4')]", "False", "(1,)"), 8),
            refusal("descr: expected one number type, received a structured type",
                    "; save its fields as arrays of their own"));
}

TEST(NpyHeader, OtherTypesAreRefusedByName) {
  for (const char* descr : {"<c8", "<U5", "|S3", "<M8[ns]", "<f16", "f4", "<u1", ""}) {
    EXPECT_EQ(
        error_of(dict_of('\'' + std::string(descr) + '\'', "False", "(1,)"), 8),
        refusal("descr: expected a bool, integer or float of at most 8 bytes, received \"" + std::string(descr) + '"',
                "; convert the array with astype, such as to float32"));
  }
}

TEST(NpyHeader, AKeyTwiceMissingOrUnknownIsRefused) {
  EXPECT_EQ(error_of("{'descr': '<f4', 'descr': '<f4'}"),
            refusal("header: expected each key once, received \"descr\" twice"));
  EXPECT_EQ(error_of("{'shape': (), 'shape': ()}"),
            refusal("header: expected each key once, received \"shape\" twice"));
  EXPECT_EQ(error_of("{'fortran_order': True, 'fortran_order': False}"),
            refusal("header: expected each key once, received \"fortran_order\" twice"));
  EXPECT_EQ(error_of("{}"), refusal("header: expected the keys descr, fortran_order and shape, received no descr"));
  EXPECT_EQ(error_of("{'descr': '<f4', }"),
            refusal("header: expected the keys descr, fortran_order and shape, received no fortran_order"));
  EXPECT_EQ(error_of("{'descr': '<f4', 'fortran_order': False}"),
            refusal("header: expected the keys descr, fortran_order and shape, received no shape"));
  EXPECT_EQ(error_of("{'strides': (4,)}"),
            refusal("header: expected the keys descr, fortran_order and shape, received \"strides\""));
}

TEST(NpyHeader, ABrokenDictIsRefusedWithWhatIsThere) {
  EXPECT_EQ(error_of(""), refusal("header: expected a dict, received the end of the header"));
  EXPECT_EQ(error_of("['descr']"), refusal("header: expected a dict, received \"['descr']\""));
  EXPECT_EQ(error_of("{5: 1}"), refusal("header: expected a key in quotes, received \"5: 1}\""));
  EXPECT_EQ(error_of("{,}"), refusal("header: expected a key in quotes, received \",}\""));
  EXPECT_EQ(error_of("{'descr"), refusal("header: expected the closing quote of a key, received \"'descr\""));
  EXPECT_EQ(error_of("{'descr' '<f4'}"), refusal("header: expected a colon after the key, received \"'<f4'}\""));
  EXPECT_EQ(error_of("{'descr': <f4}"), refusal("header: expected the name of a type in quotes, received \"<f4}\""));
  EXPECT_EQ(error_of("{'fortran_order': 0}"),
            refusal("header: expected fortran_order to be True or False, received \"0}\""));
  EXPECT_EQ(error_of("{'fortran_order': False 'shape': ()}"),
            refusal("header: expected a comma or the end of the dict, received \"'shape': ()}\""));
  EXPECT_EQ(error_of("{'descr': '<f4'"),
            refusal("header: expected a comma or the end of the dict, received the end of the header"));
  EXPECT_EQ(error_of(dict_of("'<f4'", "False", "()") + "; import os", 4),
            refusal("header: expected nothing after the dict, received \"; import os\""));
  EXPECT_EQ(error_of(dict_of("'<f4'", "False", "()") + std::string(1, '\0'), 4),
            refusal("header: expected nothing after the dict, received \"\\x00\""));
}

TEST(NpyHeader, ABrokenShapeIsRefusedWithWhatIsThere) {
  auto shape_error = [](std::string_view shape) { return error_of("{'shape': " + std::string(shape) + "}"); };
  EXPECT_EQ(shape_error("3"), refusal("header: expected shape to be a tuple, received \"3}\""));
  EXPECT_EQ(shape_error("(3)"), refusal("header: expected a comma after the only axis of a tuple, received \"}\""));
  EXPECT_EQ(shape_error("(,)"), refusal("header: expected an axis to be a whole number below 2^64, received \",)}\""));
  EXPECT_EQ(shape_error("(2 3)"), refusal("header: expected a comma or the end of the tuple, received \"3)}\""));
  EXPECT_EQ(shape_error("(1.5,)"), refusal("header: expected a comma or the end of the tuple, received \".5,)}\""));
  EXPECT_EQ(shape_error("((1,),)"),
            refusal("header: expected an axis to be a whole number below 2^64, received \"(1,),)}\""));
  for (const char* number : {"-1", "+1", "01", "18446744073709551616", "True", "x"}) {
    EXPECT_EQ(shape_error('(' + std::string(number) + ",)"),
              refusal("header: expected an axis to be a whole number below 2^64, received \"" + std::string(number) +
                      ",)}\""));
  }
}

TEST(NpyHeader, MoreAxesThanNumPyHasAreRefused) {
  std::string axes;
  for (int axis = 0; axis < 64; ++axis) axes += "1,";
  EXPECT_EQ(parse(file_of(dict_of("'|u1'", "False", '(' + axes + ')'), 1)).shape.size(), 64U);
  EXPECT_EQ(error_of(dict_of("'|u1'", "False", '(' + axes + "1)"), 1),
            refusal("header: expected at most 64 axes, received \"1), }\""));
}

TEST(NpyHeader, AShapeWhoseBytesOverflowIsRefused) {
  EXPECT_EQ(error_of(dict_of("'<f4'", "False", "(4611686018427387904, 4)")),
            refusal("shape: expected an array whose bytes fit 64 bits, received <f4 (4611686018427387904, 4)"));
}

TEST(NpyHeader, AShapeThatDoesNotFitTheDataIsRefused) {
  EXPECT_EQ(error_of(dict_of("'<f4'", "False", "(2, 3)"), 20),
            refusal("array: expected 24 bytes for <f4 (2, 3), received 20", kGetAgain));
  EXPECT_EQ(error_of(dict_of("'<f4'", "False", "(2, 3)"), 25),
            refusal("array: expected 24 bytes for <f4 (2, 3), received 25", "; save one array to a file"));
}

}  // namespace
}  // namespace firstlayer
