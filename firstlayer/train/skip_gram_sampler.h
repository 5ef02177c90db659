#pragma once
// Which words are left out of a pass, and which words stand in for a neighbour as noise. Internal to the library;
// skip_gram.cpp checks what comes in.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer::skip_gram {

/// (sqrt(f / sample) + 1) * sample / f, at most 1, for a word that is the part f = count / total of the text; 1 if
/// sample is 0. It is the formula of word2vec's program, not of its paper: keep_probability(100, 1000, 0.001) == 0.11.
double keep_probability(std::uint64_t count, std::uint64_t total, double sample);

/// Leaves out occurrences of frequent words.
class SubSampling {
 public:
  SubSampling(std::span<const std::uint64_t> counts, double sample);

  /// Whether an occurrence stays, by the upper half of `random`.
  bool keeps(TokenId id, std::uint64_t random) const { return (random >> 32) < thresholds_[id]; }

  double probability(TokenId id) const { return static_cast<double>(thresholds_[id]) / 4294967296.0; }

 private:
  std::vector<std::uint64_t> thresholds_;  ///< probabilities times 2^32
};

/// Draws ids with probabilities in proportion to counts^power, by the alias method (Walker 1977; Vose 1991): every
/// column of the table holds an id and an alias, and a coin chooses. A draw looks at one entry, where a search in
/// cumulative sums looks at log2(V).
class NoiseTable {
 public:
  /// At least one count must be positive.
  NoiseTable(std::span<const std::uint64_t> counts, double power);

  /// The upper half of `random` picks the column, the lower is the coin.
  TokenId draw(std::uint64_t random) const {
    const std::uint64_t column = (random >> 32) * entries_.size() >> 32;
    const Entry& entry = entries_[column];
    return static_cast<std::uint32_t>(random) < entry.threshold ? static_cast<TokenId>(column) : entry.alias;
  }

  /// With which probability each id comes, by the entries.
  std::vector<double> probabilities() const;

 private:
  struct Entry {
    std::uint32_t threshold;  ///< coins below it, of 2^32, are for the column's own id
    TokenId alias;
  };
  std::vector<Entry> entries_;
};

}  // namespace firstlayer::skip_gram
