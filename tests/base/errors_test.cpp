#include "firstlayer/base/errors.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <type_traits>

namespace firstlayer {
namespace {

TEST(Errors, AMismatchNamesWhereExpectedAndReceived) {
  EXPECT_EQ(mismatch_message("plan_windows", "more ids than context 256", "4"),
            "[plan_windows] expected more ids than context 256, received 4");
}

TEST(Errors, ThrowInvalidCarriesTheMessage) {
  try {
    throw_invalid("View", "6 values", "5");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "[View] expected 6 values, received 5");
  }
}

TEST(Errors, ThrowOutOfRangeCarriesTheMessage) {
  try {
    throw_out_of_range("decode", "an id below 50257", "50257");
    FAIL();
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "[decode] expected an id below 50257, received 50257");
  }
}

TEST(Errors, ASystemErrorNamesPathActionAndReason) {
  try {
    throw_file_error("/data/x.npy", "open", ENOENT);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "/data/x.npy: cannot open: No such file or directory");
    EXPECT_EQ(error.path(), "/data/x.npy");
  }
}

TEST(Errors, ABadFormatIsAFileErrorOfItsOwnType) {
  static_assert(std::is_base_of_v<FileError, FormatError>);
  static_assert(!std::is_same_v<FileError, FormatError>);
  FormatError error("x.safetensors", "expected a header, received 3 bytes");
  EXPECT_STREQ(error.what(), "x.safetensors: expected a header, received 3 bytes");
  EXPECT_EQ(error.path(), "x.safetensors");
}

}  // namespace
}  // namespace firstlayer
