#include "firstlayer/formats/file_limits.h"

#include <gtest/gtest.h>

#include <string>

namespace firstlayer {
namespace {

TEST(QuotedText, EscapesWhatWouldBreakALineOrATerminal) {
  EXPECT_EQ(quoted_text("wte\n\x1b[31m"), "\"wte\\n\\x1b[31m\"");
  EXPECT_EQ(quoted_text("\xff"), "\"\\xff\"");
  EXPECT_EQ(quoted_text("é"), "\"é\"");
}

TEST(QuotedText, CutsLongText) {
  EXPECT_EQ(quoted_text(std::string(80, 'a')), '"' + std::string(80, 'a') + '"');
  EXPECT_EQ(quoted_text(std::string(100, 'a')), '"' + std::string(80, 'a') + "\"… (100 bytes)");
}

TEST(QuotedText, CutsBetweenCharacters) {
  EXPECT_EQ(quoted_text(std::string(78, 'a') + "😀!"), '"' + std::string(78, 'a') + "\"… (83 bytes)");
  EXPECT_EQ(quoted_text(std::string(79, 'a') + "éé"), '"' + std::string(79, 'a') + "\"… (83 bytes)");
}

}  // namespace
}  // namespace firstlayer
