#include "firstlayer/base/utf8.h"

#include <gtest/gtest.h>

namespace firstlayer {
namespace {

Utf8Char decode(std::string_view text) { return decode_utf8(text, 0); }

TEST(DecodeUtf8, ReadsEachLength) {
  EXPECT_EQ(decode("A").code_point, U'A');
  EXPECT_EQ(decode("é").code_point, 0xE9U);
  EXPECT_EQ(decode("€").code_point, 0x20ACU);
  EXPECT_EQ(decode("\U0010FFFF").code_point, 0x10FFFFU);
  EXPECT_EQ(decode("\U0010FFFF").length, 4U);
}

TEST(DecodeUtf8, TheEdgesOfEachLengthAreValid) {
  for (const char* text : {"\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000"}) {
    EXPECT_TRUE(decode(text).valid) << text;
  }
}

TEST(DecodeUtf8, AnInvalidByteIsOneReplacementCharacter) {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xe2\x28\xa1"}) {
    Utf8Char c = decode(text);
    EXPECT_FALSE(c.valid) << text;
    EXPECT_EQ(c.code_point, 0xFFFDU);
    EXPECT_EQ(c.length, 1U);
  }
}

TEST(IsValidUtf8, LooksAtTheWholeText) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("naïve 日本"));
  EXPECT_FALSE(is_valid_utf8("abc\xff"));
}

TEST(Printable, StaysOnOneLineAndHidesNothing) {
  EXPECT_EQ(printable("a\n\xff"), "a\\n\\xff");
  EXPECT_EQ(printable("\t\r\"\\é"), "\\t\\r\\\"\\\\é");
  EXPECT_EQ(printable(std::string_view("\0\x1b[0m", 5)), "\\x00\\x1b[0m");
  EXPECT_EQ(printable("\u202e"), "\\xe2\\x80\\xae");
  EXPECT_EQ(in_quotes("a\"b"), "\"a\\\"b\"");
}

}  // namespace
}  // namespace firstlayer
