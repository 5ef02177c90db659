#pragma once
// A corpus in sentences, and the sentences in chunks that threads take. Internal to the library.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer::skip_gram {

/// A longer sentence is cut, as word2vec does.
inline constexpr std::size_t kMaxSentence = 10'000;

/// A chunk has whole sentences, and ends with the one in which it has at least so many words, or before one that would
/// make it longer than the longest sentence.
inline constexpr std::size_t kChunkWords = 2048;

class Chunks {
 public:
  /// Sentence s is ids [ends[s - 1], ends[s]); without `ends` all ids are one sentence.
  /// Throws std::invalid_argument with `where` unless there are ids and the ends rise up to their number.
  Chunks(std::size_t ids, std::span<const std::size_t> ends, const char* where);

  std::size_t size() const noexcept { return firsts_.size(); }

  /// use(begin, end) for each sentence of chunk `chunk`, as places in the ids.
  template <class Use>
  void for_sentences(std::size_t chunk, Use use) const {
    const std::size_t last = chunk + 1 < firsts_.size() ? firsts_[chunk + 1] : ends_.size();
    for (std::size_t s = firsts_[chunk]; s < last; ++s) use(s == 0 ? 0 : ends_[s - 1], ends_[s]);
  }

  /// Where the words of chunk `chunk` end, among the ids.
  std::size_t end(std::size_t chunk) const {
    return ends_[(chunk + 1 < firsts_.size() ? firsts_[chunk + 1] : ends_.size()) - 1];
  }

 private:
  std::vector<std::size_t> ends_;    ///< of sentences, none longer than kMaxSentence
  std::vector<std::size_t> firsts_;  ///< the first sentence of each chunk
};

}  // namespace firstlayer::skip_gram
