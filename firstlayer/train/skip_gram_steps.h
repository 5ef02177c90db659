#pragma once
// The work of skip-gram in the order in which threads may share it without meeting. Internal to the library.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/train/skip_gram_random.h"
#include "firstlayer/train/skip_gram_sampler.h"

namespace firstlayer::skip_gram {

/// Rows of both tables are dealt to this many parts by id % kParts. Terms whose rows lie in other parts of both tables
/// have nothing in common, so kParts threads may work on kParts of the kParts^2 lists at once (docs/skip_gram.md).
/// 4 and 2 learn no better; 4 take 0.7 to 0.8 of the time, as steps are longer, but leave threads beyond 4 idle.
inline constexpr std::size_t kParts = 8;

/// A step has at most so many rows.
inline constexpr std::size_t kMaxStepRows = 64;

/// Some terms of one window: the input row of its centre, and rows of the output table, first those of neighbours,
/// whose dot product with it should be large, then those of noise, whose should be small.
struct Step {
  TokenId input;
  std::uint16_t positives;
  std::uint16_t negatives;
  float rate;

  std::size_t rows() const { return std::size_t{positives} + negatives; }
};

/// Steps one after the other, with their output rows in the same order.
struct StepList {
  std::vector<Step> steps;
  std::vector<TokenId> rows;
};

/// A learning rate that falls in a line with the words that went by.
struct RateLine {
  double first;
  double last;
  double words;  ///< at which it is `last`

  float at(std::uint64_t word) const {
    return static_cast<float>(first + (last - first) * (static_cast<double>(word) / words));
  }
};

/// What is drawn at random for each window.
struct Draws {
  const SubSampling& kept;
  const NoiseTable& noise;
  std::size_t window;     ///< most neighbours on each side
  std::size_t negatives;  ///< noise words for each neighbour; one that is the neighbour itself is left out
};

/// Terms by the part of their input row and the part of their output row.
class DealtTerms {
 public:
  DealtTerms() : lists_(kParts * kParts) {}

  void clear();

  /// Adds the windows of `sentence`, whose first word is number `first_word` of all that are learned from. After
  /// sub-sampling each word that stays is a centre with 1 .. window neighbours on each side, each reach as likely.
  void deal(std::span<const TokenId> sentence, std::uint64_t first_word, const RateLine& rate, const Draws& draws,
            Random& random);

  const StepList& list(std::size_t input_part, std::size_t output_part) const {
    return lists_[input_part * kParts + output_part];
  }

  /// The (centre, neighbour) pairs in all lists.
  std::uint64_t pairs() const noexcept { return pairs_; }

 private:
  /// Rows of one part that the window at hand needs.
  struct Pending {
    std::uint16_t positives = 0;
    std::uint16_t negatives = 0;
    std::array<TokenId, kMaxStepRows> rows;
  };

  void add(TokenId row, bool positive);
  void flush(std::size_t output_part);

  std::vector<StepList> lists_;
  std::array<Pending, kParts> pending_;
  TokenId input_ = 0;  ///< of the window at hand, as its rate
  float rate_ = 0;
  std::uint64_t pairs_ = 0;
  std::vector<TokenId> words_;  ///< of the sentence, that stay
  std::vector<std::uint64_t> numbers_;
};

}  // namespace firstlayer::skip_gram
