#include "firstlayer/train/word_vocabulary.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer {
namespace {

constexpr std::size_t kMaxSentence = 10'000;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// word(bytes) for each word, line_end() for each end of a line and of the text.
template <class Word, class LineEnd>
void for_words(std::string_view text, Word word, LineEnd line_end) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_space(text[i])) continue;
    if (i > begin) word(text.substr(begin, i - begin));
    if (i == text.size() || text[i] == '\n') line_end();
    begin = i + 1;
  }
}

using Counted = std::pair<std::string_view, std::uint64_t>;

bool comes_before(const Counted& one, const Counted& other) {
  return one.second != other.second ? one.second > other.second : one.first < other.first;
}

[[noreturn]] void throw_no_words(std::uint64_t min_count, std::span<const Counted> all) {
  std::string received = "none";
  if (!all.empty()) {
    const Counted& most = *std::ranges::min_element(all, comes_before);
    received = std::to_string(all.size()) + " different words, the most frequent " + in_quotes(most.first) + " " +
               std::to_string(most.second) + " times";
  }
  throw_invalid("WordVocabulary", "a word that occurs " + std::to_string(min_count) + " times or more", received);
}

}  // namespace

WordVocabulary::WordVocabulary(std::string_view text, std::uint64_t min_count) {
  std::unordered_map<std::string_view, std::uint64_t> seen;
  for_words(
      text, [&](std::string_view word) { ++seen[word]; }, [] {});
  const std::vector<Counted> all(seen.begin(), seen.end());
  std::vector<Counted> kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [&](const Counted& word) { return word.second >= min_count; });
  if (kept.empty()) throw_no_words(min_count, all);
  if (kept.size() > std::numeric_limits<TokenId>::max()) {
    throw_invalid("WordVocabulary", "at most 2^32 - 1 different words", std::to_string(kept.size()));
  }
  std::ranges::sort(kept, comes_before);

  std::size_t bytes = 0;
  for (const Counted& word : kept) bytes += word.first.size();
  bytes_.reserve(bytes);  // nothing below moves them again
  ids_.reserve(kept.size());
  for (const auto& [word, count] : kept) {
    const std::string_view own(bytes_.data() + bytes_.size(), word.size());
    bytes_.insert(bytes_.end(), word.begin(), word.end());
    ids_.emplace(own, static_cast<TokenId>(words_.size()));
    words_.push_back(own);
    counts_.push_back(count);
  }
}

std::string_view WordVocabulary::word(TokenId id) const {
  if (id >= size()) {
    throw_out_of_range("WordVocabulary::word", "an id below " + std::to_string(size()), std::to_string(id));
  }
  return words_[id];
}

std::optional<TokenId> WordVocabulary::find(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

WordSentences WordVocabulary::encode(std::string_view text) const {
  WordSentences sentences;
  std::size_t words = 0;  // of the sentence at hand, unknown ones among them
  const auto end_sentence = [&] {
    words = 0;
    const std::size_t begin = sentences.ends.empty() ? 0 : sentences.ends.back();
    if (sentences.ids.size() > begin) sentences.ends.push_back(sentences.ids.size());
  };
  for_words(
      text,
      [&](std::string_view word) {
        const auto found = ids_.find(word);
        if (found != ids_.end()) sentences.ids.push_back(found->second);
        if (++words == kMaxSentence) end_sentence();
      },
      end_sentence);
  return sentences;
}

}  // namespace firstlayer
