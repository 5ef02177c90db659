#include "firstlayer/formats/word_vectors.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

const std::filesystem::path kGolden = std::filesystem::path(FIRSTLAYER_TEST_DATA) / "formats";

void expect_golden(const WordVectorsFile& file) {
  EXPECT_EQ(file.size(), 4U);
  EXPECT_EQ(file.dim(), 3U);
  EXPECT_EQ(file.word(0), "the");
  EXPECT_EQ(file.word(2), "\xC3\xA9t\xC3\xA9");
  EXPECT_EQ(file.find("\xE4\xB8\xAD"), TokenId{3});
  EXPECT_EQ(file.find("absent"), std::nullopt);
  const Tensor<float, 2> table = file.read_all();
  const std::vector<float> expected = {0.5F, -1.25F, 3.0F, 0.1F, -0.2F, 1e-7F, 1e20F, -1.0F, 0.0F, 7.0F, 8.0F, 9.0F};
  EXPECT_EQ(std::vector<float>(table.flat().begin(), table.flat().end()), expected);
}

TEST(WordVectorsFile, ReadsWhatGensimWrites) {
  const WordVectorsFile text = WordVectorsFile::open(kGolden / "gensim_text.vec");
  EXPECT_EQ(text.layout(), WordVectorsLayout::kText);
  expect_golden(text);
  const WordVectorsFile binary = WordVectorsFile::open(kGolden / "gensim_binary.vec");
  EXPECT_EQ(binary.layout(), WordVectorsLayout::kBinary);
  expect_golden(binary);
  const WordVectorsFile glove = WordVectorsFile::open(kGolden / "gensim_no_header.vec");
  EXPECT_EQ(glove.layout(), WordVectorsLayout::kGlove);
  expect_golden(glove);
}

TEST(WordVectorsFile, OnlyWantedRowsAreRead) {
  TemporaryFolder folder;
  const WordVectorsFile file = WordVectorsFile::open(folder.write("x.vec", "a 1 2\nb broken 3\nc 5 6\n"));
  Tensor<float, 2> rows({2, 2});
  file.read_rows(std::vector<TokenId>{2, 0}, rows);
  EXPECT_EQ(rows.view()(0, 1), 6.0F);
  EXPECT_EQ(rows.view()(1, 0), 1.0F);
  EXPECT_TRUE(message_of<FormatError>([&] { file.read_all(1); }).find("line 2, number 1") != std::string::npos);
}

TEST(WordVectorsFile, TheFirstOfAWordIsFound) {
  TemporaryFolder folder;
  const WordVectorsFile file = WordVectorsFile::open(folder.write("x.vec", "a 1\nb 2\na 3\n"));
  EXPECT_EQ(file.find("a"), TokenId{0});
  EXPECT_EQ(file.size(), 3U);
}

TEST(WordVectorsFile, FindsEveryWordOfMany) {
  TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "w" + std::to_string(i) + " 1\n";
  const WordVectorsFile first = WordVectorsFile::open(folder.write("x.vec", text));
  for (TokenId i = 0; i < 3000; ++i) EXPECT_EQ(first.find("w" + std::to_string(i)), i);
  EXPECT_EQ(first.find("w3000"), std::nullopt);
}

TEST(WordVectorsFile, AFileWithoutRowsHasNoWords) {
  TemporaryFolder folder;
  const WordVectorsFile file = WordVectorsFile::open(folder.write("x.vec", "0 3\n"));
  EXPECT_EQ(file.size(), 0U);
  EXPECT_EQ(file.find("a"), std::nullopt);
  EXPECT_EQ(file.read_all().shape(), (Shape<2>{0, 3}));
}

TEST(WordVectorsFile, StaysReadableAfterAMove) {
  WordVectorsFile first = WordVectorsFile::open(kGolden / "gensim_binary.vec");
  const WordVectorsFile file = std::move(first);
  expect_golden(file);
}

TEST(WordVectorsFile, WhatIsNotThereIsRefused) {
  const WordVectorsFile file = WordVectorsFile::open(kGolden / "gensim_text.vec");
  EXPECT_EQ(message_of<std::out_of_range>([&] { file.word(4); }),
            "[WordVectorsFile] expected a row below V = 4, received 4");
  std::vector<float> room(2);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { file.read_row(0, room); }),
            "[WordVectorsFile::read_row] expected room for 3 numbers, received 2");
  Tensor<float, 2> rows({1, 2});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { file.read_rows(std::vector<TokenId>{0}, rows); }),
            "[WordVectorsFile::read_rows] expected room for rows of shape (1, 3), received (1, 2)");
  EXPECT_EQ(message_of<FileError>([] { WordVectorsFile::open("gone.vec"); }),
            "gone.vec: cannot open: No such file or directory");
}

}  // namespace
}  // namespace firstlayer
