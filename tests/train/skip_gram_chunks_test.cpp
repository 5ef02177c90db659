#include "firstlayer/train/skip_gram_chunks.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/test_files.h"

namespace firstlayer::skip_gram {
namespace {

using Sentence = std::pair<std::size_t, std::size_t>;

std::vector<std::vector<Sentence>> all_of(const Chunks& chunks) {
  std::vector<std::vector<Sentence>> all(chunks.size());
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    chunks.for_sentences(chunk, [&](std::size_t begin, std::size_t end) { all[chunk].emplace_back(begin, end); });
    EXPECT_EQ(chunks.end(chunk), all[chunk].back().second);
  }
  return all;
}

TEST(Chunks, WithoutEndsAllIsOneSentence) {
  EXPECT_EQ(all_of(Chunks(7, {}, "f")), (std::vector<std::vector<Sentence>>{{{0, 7}}}));
}

TEST(Chunks, AnEmptySentenceIsLeftOut) {
  const std::size_t ends[] = {0, 3, 3, 5};
  EXPECT_EQ(all_of(Chunks(5, ends, "f")), (std::vector<std::vector<Sentence>>{{{0, 3}, {3, 5}}}));
}

TEST(Chunks, ALongSentenceIsCut) {
  const std::size_t ends[] = {5, 25'005, 25'006};
  EXPECT_EQ(all_of(Chunks(25'006, ends, "f")),
            (std::vector<std::vector<Sentence>>{
                {{0, 5}}, {{5, 10'005}}, {{10'005, 20'005}}, {{20'005, 25'005}}, {{25'005, 25'006}}}));
}

TEST(Chunks, AChunkHasWholeSentences) {
  const std::size_t ends[] = {2000, 2047, 3000, 5047, 5048};
  EXPECT_EQ(
      all_of(Chunks(5048, ends, "f")),
      (std::vector<std::vector<Sentence>>{{{0, 2000}, {2000, 2047}, {2047, 3000}}, {{3000, 5047}, {5047, 5048}}}));
}

std::string refusal(std::size_t ids, const std::vector<std::size_t>& ends) {
  return testing::message_of<std::invalid_argument>([&] { Chunks(ids, ends, "f"); });
}

TEST(Chunks, EndsThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal(0, {}), "[f] expected ids to learn from, received none");
  EXPECT_EQ(refusal(9, {5, 4, 9}), "[f] expected ends of sentences that rise, received 4 after 5");
  EXPECT_EQ(refusal(9, {5, 8}), "[f] expected that the last sentence ends with the ids, at 9, received 8");
  EXPECT_EQ(refusal(9, {5, 10}), "[f] expected that the last sentence ends with the ids, at 9, received 10");
}

}  // namespace
}  // namespace firstlayer::skip_gram
