#include "firstlayer/train/checkpoint/gpt2_vocabulary_files.h"

#include <gtest/gtest.h>

#include "firstlayer/base/errors.h"
#include "tests/sha256.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::as_bytes;
using testing::sha256_hex;

TEST(Gpt2VocabularyFiles, AreOpenAisByteForByte) {
  EXPECT_EQ(sha256_hex(as_bytes(gpt2_vocab_json())),
            "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783");
  EXPECT_EQ(sha256_hex(as_bytes(gpt2_merges_txt())),
            "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5");
}

TEST(Gpt2VocabularyFiles, AreWrittenUnderTheNamesThatTransformersReads) {
  testing::TemporaryFolder folder;
  write_gpt2_vocabulary(folder.path());
  EXPECT_EQ(folder.names(), (std::set<std::string>{"merges.txt", "vocab.json"}));
  EXPECT_EQ(testing::read_file(folder / "vocab.json"), gpt2_vocab_json());
}

TEST(Gpt2VocabularyFiles, AnotherVocabularyIsTold) {
  EXPECT_EQ(gpt2_vocabulary_difference(gpt2_vocab_json(), "vocab.json"), "");
  EXPECT_EQ(gpt2_vocabulary_difference(R"({"a": 0})", "vocab.json"), "no \"!\", here 0");
  EXPECT_EQ(gpt2_vocabulary_difference(R"({"!": 3})", "vocab.json"), "id 3 for \"!\", here 0");
  std::string longer = gpt2_vocab_json();
  longer.insert(longer.size() - 1, ", \"<|pad|>\": 50257");
  EXPECT_EQ(gpt2_vocabulary_difference(longer, "vocab.json"), "");
  EXPECT_THROW(gpt2_vocabulary_difference("[]", "vocab.json"), FormatError);
}

}  // namespace
}  // namespace firstlayer
