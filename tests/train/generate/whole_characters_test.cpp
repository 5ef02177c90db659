#include "firstlayer/train/generate/whole_characters.h"

#include <gtest/gtest.h>

#include <string>

#include "firstlayer/base/utf8.h"

namespace firstlayer {
namespace {

TEST(WholeCharacters, HoldsBackWhatFurtherBytesMayComplete) {
  EXPECT_EQ(whole_characters(""), 0);
  EXPECT_EQ(whole_characters("abc"), 3);
  EXPECT_EQ(whole_characters("a\xc3"), 1);
  EXPECT_EQ(whole_characters("a\xc3\xa9"), 3);
  EXPECT_EQ(whole_characters("a\xe4\xb8"), 1);
  EXPECT_EQ(whole_characters("a\xf0\x9f\x99"), 1);
  EXPECT_EQ(whole_characters("a\xf0\x9f\x99\x82"), 5);
}

TEST(WholeCharacters, WhatCanNeverBeWholeIsNotHeld) {
  EXPECT_EQ(whole_characters("\x80\x80"), 2);
  EXPECT_EQ(whole_characters("\xff"), 1);
  EXPECT_EQ(whole_characters("\xc0"), 1);
  EXPECT_EQ(whole_characters("\xf5\x80"), 2);
  EXPECT_EQ(whole_characters("a\x80\x80\x80"), 4);
}

TEST(WholeCharacters, AnyTextInBytesIsShownInWholeCharacters) {
  const std::string text = "naïve 漢字 🙂🙂 e\u0301 \U0010FFFF!";
  std::string held;
  std::string shown;
  for (const char byte : text) {
    held += byte;
    const std::size_t whole = whole_characters(held);
    EXPECT_TRUE(is_valid_utf8(held.substr(0, whole)));
    shown += held.substr(0, whole);
    held.erase(0, whole);
  }
  EXPECT_EQ(shown, text);
}

}  // namespace
}  // namespace firstlayer
