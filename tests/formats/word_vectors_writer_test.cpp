#include "firstlayer/formats/word_vectors_writer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::read_file;
using testing::TemporaryFolder;

std::string written(WordVectorsLayout layout) {
  TemporaryFolder folder;
  WordVectorsWriter writer(folder / "words", 2, 2, layout);
  writer.append("the", std::vector<float>{1.0F, -0.1F});
  writer.append("caf\xc3\xa9", std::vector<float>{1e-30F, 16777216.0F});
  writer.commit();
  return read_file(folder / "words");
}

TEST(WordVectorsWriter, WritesTheTextOfWord2Vec) {
  EXPECT_EQ(written(WordVectorsLayout::kText), "2 2\nthe 1 -0.1\ncaf\xc3\xa9 1e-30 16777216\n");
}

TEST(WordVectorsWriter, WritesTheTextOfGlove) {
  EXPECT_EQ(written(WordVectorsLayout::kGlove), "the 1 -0.1\ncaf\xc3\xa9 1e-30 16777216\n");
}

TEST(WordVectorsWriter, WritesTheBytesOfWord2Vec) {
  using namespace std::string_literals;
  EXPECT_EQ(written(WordVectorsLayout::kBinary),
            "2 2\nthe \0\0\x80\x3f\xcd\xcc\xcc\xbd\ncaf\xc3\xa9 \x60\x42\xa2\x0d\0\0\x80\x4b\n"s);
}

TEST(WordVectorsWriter, RowsThatDoNotFitAreRefused) {
  TemporaryFolder folder;
  const std::vector<float> two(2), three(3);
  {
    WordVectorsWriter writer(folder / "words", 2, 2, WordVectorsLayout::kText);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.append("a", three); }),
              "[WordVectorsWriter::append] expected vectors of 2 numbers, received 3");
    for (const std::string word : {" the", "a b", "a\n", ""}) {
      EXPECT_TRUE(message_of<std::invalid_argument>([&] {
                    writer.append(word, two);
                  }).starts_with("[WordVectorsWriter::append] expected a word without white space, received \""));
    }
    writer.append("a", two);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.append("\t", two); }),
              "[WordVectorsWriter::append] expected a word without white space, received \"\\t\" in row 1");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.commit(); }),
              "[WordVectorsWriter::commit] expected 2 rows, received 1");
    writer.append("b", two);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { writer.append("c", two); }),
              "[WordVectorsWriter::append] expected 2 rows, received one more");
  }
  EXPECT_TRUE(folder.names().empty()) << "nothing was committed";
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { WordVectorsWriter(folder / "words", 2, 0, WordVectorsLayout::kText); }),
      "[WordVectorsWriter] expected vectors of at least one number, received dim 0");
}

TEST(WordVectorsWriter, AFullDiskIsAnError) {
  EXPECT_EQ(message_of<FileError>([&] { WordVectorsWriter("/dev/full", 0, 1, WordVectorsLayout::kText).commit(); }),
            "/dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace firstlayer
