#pragma once
// Skip-gram with negative sampling, the objective of word2vec: a table (V, d) whose row for a word foretells the words
// around it. Mikolov et al., "Distributed Representations of Words and Phrases and their Compositionality", 2013.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// gensim's and word2vec's names for the same are in docs/skip_gram.md; these are their defaults.
struct SkipGramOptions {
  std::size_t dim = 100;      ///< d, ignored where a table is given
  std::size_t window = 5;     ///< neighbours on each side: 1 .. window of them, drawn anew for each centre
  std::size_t negatives = 5;  ///< noise words drawn for each neighbour, at least 1
  double sample = 1e-3;       ///< words that are more than this part of the text are thinned out; 0: none are
  double noise_power = 0.75;  ///< noise is drawn in proportion to count^noise_power
  double rate = 0.025;        ///< learning rate at the first word; falls in a line
  double final_rate = 1e-4;   ///< at the last word of the last epoch
  std::size_t epochs = 5;     ///< passes over the text
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< 0: all; the vectors do not depend on it
};

struct SkipGramProgress {
  std::uint64_t words;        ///< that went by, in all epochs, those thinned out among them
  std::uint64_t total_words;  ///< of all epochs
  std::size_t epoch;          ///< 1 .. epochs
  double words_per_second;    ///< since train() began
  std::uint64_t pairs;        ///< (centre, neighbour) pairs since the last report
  double loss;                ///< the mean over these pairs, in nats; 0 if there are none
  double rate;                ///< at the last word
};

/// Is called after each 16,384 words or more; false stops the training after what is reported.
using SkipGramReport = std::function<bool(const SkipGramProgress&)>;

/// How often each id of a vocabulary of V occurs. Throws std::out_of_range naming an id that is not below V.
std::vector<std::uint64_t> count_ids(std::span<const TokenId> ids, std::size_t vocabulary);

/// Learns by stochastic gradient descent, for each (centre c, neighbour o) pair and noise words n, on
///   -log s(u_o . v_c) - sum of log s(-u_n . v_c),   s(x) = 1 / (1 + exp(-x)).
/// The same corpus, options and counts give the same bits on any number of threads and any processor.
class SkipGram {
 public:
  /// For ids 0 .. counts.size() - 1, of which counts[id] occurrences were counted: they decide what is thinned out and
  /// what is drawn as noise. v is uniform in [-1/2d, 1/2d), u is 0.
  /// Throws std::invalid_argument if there are no counts or all are 0, or an option is out of its range.
  SkipGram(std::span<const std::uint64_t> counts, const SkipGramOptions& options);

  /// The same, going on from `table` (V, d) for v, which is copied.
  SkipGram(std::span<const std::uint64_t> counts, View<const float, 2> table, const SkipGramOptions& options);

  SkipGram(SkipGram&&) noexcept;
  SkipGram& operator=(SkipGram&&) noexcept;
  ~SkipGram();

  /// All epochs over `ids`, with sentence s being ids [ends[s - 1], ends[s]); without `ends` all ids are one sentence.
  /// Sentences of more than 10,000 words are cut; windows do not reach across their ends. Returns false if the report
  /// stopped it; the vectors are then as far as they came.
  /// Throws std::invalid_argument if there are no ids or the ends do not fit, std::out_of_range for an id that is not
  /// below V, naming both and the place; nothing is learned then. Throws std::runtime_error if the loss is not finite.
  bool train(std::span<const TokenId> ids, std::span<const std::size_t> ends = {}, const SkipGramReport& report = {});

  /// The mean loss of a pair on a text that is not learned from, with windows and noise drawn from the seed.
  /// Throws as train(), and std::invalid_argument if the text has no pair.
  double loss(std::span<const TokenId> ids, std::span<const std::size_t> ends = {}) const;

  Tensor<float, 2> vectors() const;          ///< v, (V, d): what word2vec writes
  Tensor<float, 2> context_vectors() const;  ///< u, (V, d)

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace firstlayer
