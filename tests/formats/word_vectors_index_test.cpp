#include "firstlayer/formats/word_vectors_index.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

constexpr WordVectorsLayout kText = WordVectorsLayout::kText;
constexpr WordVectorsLayout kBinary = WordVectorsLayout::kBinary;
constexpr WordVectorsLayout kGlove = WordVectorsLayout::kGlove;

constexpr const char* kGetAgain = "; the file is damaged or was cut off, get it again";
constexpr const char* kWidth = "; every line has a word and as many numbers as the first";
constexpr const char* kLies = "; the header lies or the file was cut off, get it again";

std::string bytes_of(std::initializer_list<float> numbers) {
  std::string bytes;
  for (const float number : numbers) bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  return bytes;
}

/// "word:1,2 word:3,4" of a whole file.
std::string content(std::string_view file, std::optional<WordVectorsLayout> layout = {}) {
  const WordVectorsIndex index = index_word_vectors(file, "x.vec", layout);
  std::string text;
  std::vector<float> numbers(index.dim);
  for (std::size_t row = 0; row < index.rows.size(); ++row) {
    text += text.empty() ? "" : "; ";
    text += file.substr(index.rows[row].begin, index.rows[row].word_length);
    read_word_vector(file, "x.vec", index, row, numbers);
    for (const float number : numbers) text += "," + std::to_string(number).substr(0, 4);
  }
  return text;
}

std::string error_of(std::string_view file, std::optional<WordVectorsLayout> layout = {}) {
  return message_of<FormatError>([&] { content(file, layout); });
}

WordVectorsLayout layout_of(std::string_view file) { return index_word_vectors(file, "x.vec", {}).layout; }

TEST(WordVectorsIndex, ReadsEachLayout) {
  EXPECT_EQ(content("a 1 2\nbc -1 0.5\n"), "a,1.00,2.00; bc,-1.0,0.50");
  EXPECT_EQ(content("2 2\na 1 2\nbc -1 0.5\n"), "a,1.00,2.00; bc,-1.0,0.50");
  const std::string binary = "2 2\na " + bytes_of({1, 2}) + "bc " + bytes_of({-1, 0.5F});
  EXPECT_EQ(content(binary), "a,1.00,2.00; bc,-1.0,0.50");
  const std::string with_lines = "2 2\na " + bytes_of({1, 2}) + "\nbc " + bytes_of({-1, 0.5F}) + "\n";
  EXPECT_EQ(content(with_lines), "a,1.00,2.00; bc,-1.0,0.50");
}

TEST(WordVectorsIndex, FindsTheLayoutOut) {
  EXPECT_EQ(layout_of("a 1 2\n"), kGlove);
  EXPECT_EQ(layout_of("2 1\n5 3\n6 4\n"), kText);
  EXPECT_EQ(layout_of("1 1\nx " + bytes_of({1})), kBinary);
  EXPECT_EQ(layout_of("0 7\n"), kText);
  EXPECT_EQ(content("2 1\n5 3\n", kGlove), "2,1.00; 5,3.00");  // what it is told, it believes
}

TEST(WordVectorsIndex, SpacesTabsAndLineEndsOfAllKinds) {
  EXPECT_EQ(content("a 1 2 \r\nb\t3\t 4"), "a,1.00,2.00; b,3.00,4.00");
  EXPECT_EQ(content("1 2 \r\na 1 2 \r\n\r\n \n"), "a,1.00,2.00");
}

TEST(WordVectorsIndex, NumbersOfAllKinds) {
  EXPECT_EQ(content("a +1 -.5 1e0 1E+1 1e-50 -0\n"), "a,1.00,-0.5,1.00,10.0,0.00,-0.0");
}

TEST(WordVectorsIndex, WordsAreAnyBytes) {
  EXPECT_EQ(content("\xFF\xFE 1\n\xE4\xB8\xAD 2\n1 3\nnan 4\n"), "\xFF\xFE,1.00; \xE4\xB8\xAD,2.00; 1,3.00; nan,4.00");
  const std::string odd = std::string("a\0b\n", 4) + " " + bytes_of({7});
  EXPECT_EQ(content("1 1\n" + odd, kBinary), std::string("a\0b\n", 4) + ",7.00");
}

TEST(WordVectorsIndex, WordsOfGloveMayHaveSpaces) {
  EXPECT_EQ(content("a 1 2\n. . . 3 4\nat name@x.org 5 6\n"), "a,1.00,2.00; . . .,3.00,4.00; at name@x.org,5.00,6.00");
  EXPECT_EQ(content(". . 1 2\n"), ". .,1.00,2.00");
}

TEST(WordVectorsIndex, UnequalWidthsAreRefused) {
  EXPECT_EQ(error_of("a 1 2\nb 1\n"),
            "x.vec: line 2: expected a word and 2 numbers, received a word and 1 numbers" + std::string(kWidth));
  EXPECT_EQ(error_of("a 1 2\nb 1 2 3\n"),
            "x.vec: line 2: expected a word and 2 numbers, received a word and 3 numbers" + std::string(kWidth));
  EXPECT_EQ(error_of("2 2\na 1 2\nb 1 2 3\n"),
            "x.vec: line 3: expected a word and 2 numbers, received a word and 3 numbers" + std::string(kWidth));
  EXPECT_EQ(error_of("a 1 2\n\nb 1 2\n"),
            "x.vec: line 2: expected a word and 2 numbers, received an empty line" + std::string(kWidth));
  EXPECT_EQ(error_of("a 1 2\n 1 2\n"),
            "x.vec: line 2: expected a word and 2 numbers, received no word and 2 numbers" + std::string(kWidth));
}

TEST(WordVectorsIndex, WhatIsNoFileOfVectorsIsRefused) {
  EXPECT_EQ(error_of(""), "x.vec: file: expected word vectors, received an empty file" + std::string(kGetAgain));
  EXPECT_EQ(error_of(" \n\n"),
            "x.vec: file: expected word vectors, received nothing but white space" + std::string(kGetAgain));
  EXPECT_EQ(error_of("Hello world\n"),
            "x.vec: line 1: expected a word and numbers, received \"Hello world\"; this is no file of word vectors");
  EXPECT_EQ(error_of("a 1 2\n", kText),
            "x.vec: header: expected the numbers of rows and of columns on the first line, received \"a 1 2\"; "
            "a file without it is GloVe's");
}

TEST(WordVectorsIndex, HeadersThatLieAreRefused) {
  EXPECT_EQ(error_of("3 1\na 1\nb 1\n"),
            "x.vec: header: expected 3 rows of 1 numbers, received 2 rows" + std::string(kLies));
  EXPECT_EQ(error_of("1 1\na 1\nb 1\n"),
            "x.vec: line 3: expected the end of the file after 1 rows of 1 numbers, received \"b 1\"; the header lies");
  EXPECT_EQ(error_of("1 0\na\n"), "x.vec: header: expected at least one column, received 0" + std::string(kGetAgain));
  for (const char* numbers : {"18446744073709551615 4", "4 18446744073709551615", "4294967296 4294967296", "99 1"}) {
    EXPECT_TRUE(
        error_of(std::string(numbers) + "\na 1\n")
            .starts_with("x.vec: header: expected as many rows and columns as the file has room for, received "))
        << numbers;
  }
}

TEST(WordVectorsIndex, BinaryFilesThatDoNotFitAreRefused) {
  const std::string whole = "2 2\na " + bytes_of({1, 2}) + "bc " + bytes_of({-1, 0.5F});
  for (std::size_t length = 4; length < whole.size(); ++length) {
    EXPECT_FALSE(error_of(std::string_view(whole).substr(0, length), kBinary).empty()) << length;
  }
  EXPECT_EQ(error_of(std::string_view(whole).substr(0, whole.size() - 1), kBinary),
            "x.vec: row 2: expected 8 bytes for 2 numbers, received 7" + std::string(kGetAgain));
  EXPECT_EQ(error_of(whole + "x", kBinary),
            "x.vec: file: expected its end after 2 rows of 2 numbers, received 1 bytes more; the header lies");
  EXPECT_EQ(error_of("1 1\n " + bytes_of({1}), kBinary),
            "x.vec: row 1: expected a word, received none" + std::string(kGetAgain));
  EXPECT_EQ(error_of("1 1\nabcdef", kBinary),
            "x.vec: row 1: expected a word and a space, received \"abcdef\"" + std::string(kGetAgain));
}

TEST(WordVectorsIndex, WhatIsNoNumberIsRefusedWhenItIsRead) {
  EXPECT_EQ(error_of("a 1 2\nb 1 two\n"),
            "x.vec: line 2, number 2: expected a number that float32 holds, received "
            "\"two\"" +
                std::string(kGetAgain));
  EXPECT_EQ(error_of("1 2\na 1 2,5\n", kText),
            "x.vec: line 2, number 2: expected a number that float32 holds, "
            "received \"2,5\"" +
                std::string(kGetAgain));
  EXPECT_TRUE(error_of("a 1 2\nb 1 1e39\n").find("received \"1e39\"") != std::string::npos);
}

}  // namespace
}  // namespace firstlayer
