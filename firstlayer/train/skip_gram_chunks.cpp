#include "firstlayer/train/skip_gram_chunks.h"

#include <algorithm>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer::skip_gram {
namespace {

void check_ends(std::size_t ids, std::span<const std::size_t> ends, const char* where) {
  if (ids == 0) throw_invalid(where, "ids to learn from", "none");
  for (std::size_t s = 1; s < ends.size(); ++s) {
    if (ends[s] < ends[s - 1]) {
      throw_invalid(where, "ends of sentences that rise",
                    std::to_string(ends[s]) + " after " + std::to_string(ends[s - 1]));
    }
  }
  if (!ends.empty() && ends.back() != ids) {
    throw_invalid(where, "that the last sentence ends with the ids, at " + std::to_string(ids),
                  std::to_string(ends.back()));
  }
}

}  // namespace

Chunks::Chunks(std::size_t ids, std::span<const std::size_t> ends, const char* where) {
  check_ends(ids, ends, where);
  const std::size_t all[] = {ids};
  if (ends.empty()) ends = all;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    for (; begin < end; begin = ends_.back()) ends_.push_back(std::min(end, begin + kMaxSentence));
  }
  std::size_t words = kChunkWords;  // in the chunk at hand; the first sentence begins one
  for (std::size_t s = 0; s < ends_.size(); ++s) {
    const std::size_t length = ends_[s] - (s == 0 ? 0 : ends_[s - 1]);
    if (words >= kChunkWords || words + length > kMaxSentence) {
      firsts_.push_back(s);
      words = 0;
    }
    words += length;
  }
}

}  // namespace firstlayer::skip_gram
