#pragma once
// The words of a text, by how often they occur: a vocabulary for skip-gram where tokens will not do.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// Ids of words, with sentence s being ids [ends[s - 1], ends[s]).
struct WordSentences {
  std::vector<TokenId> ids;
  std::vector<std::size_t> ends;
};

/// Words are what white space (of ASCII) separates, byte for byte: neither case nor punctuation is touched, nor need
/// they be valid UTF-8. Id 0 is the most frequent one; those as frequent are in the order of their bytes.
class WordVocabulary {
 public:
  /// The words that occur at least `min_count` times. `text` need not outlive the call, and may be a mapped file.
  /// Throws std::invalid_argument if there is none:
  ///   [WordVocabulary] expected a word that occurs 5 times or more, received 3 different words, the most frequent "a"
  ///   2 times
  explicit WordVocabulary(std::string_view text, std::uint64_t min_count = 5);

  /// Moves and is not copied: it refers to itself.
  WordVocabulary(WordVocabulary&&) noexcept = default;
  WordVocabulary& operator=(WordVocabulary&&) noexcept = default;

  std::size_t size() const noexcept { return words_.size(); }

  /// The word of an id. Throws std::out_of_range naming both if it is not below size().
  std::string_view word(TokenId id) const;

  /// Occurrences by id.
  std::span<const std::uint64_t> counts() const noexcept { return counts_; }

  std::optional<TokenId> find(std::string_view word) const;

  /// The ids of a text's words; other words are left out. A line is a sentence, and is cut after 10,000 words, as
  /// gensim and word2vec cut it; sentences without known words are left out.
  WordSentences encode(std::string_view text) const;

 private:
  std::vector<char> bytes_;  ///< of all words, one after the other
  std::vector<std::string_view> words_;
  std::vector<std::uint64_t> counts_;
  std::unordered_map<std::string_view, TokenId> ids_;
};

}  // namespace firstlayer
