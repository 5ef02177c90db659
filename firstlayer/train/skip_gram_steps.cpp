#include "firstlayer/train/skip_gram_steps.h"

#include <algorithm>

namespace firstlayer::skip_gram {

void DealtTerms::clear() {
  for (StepList& list : lists_) {
    list.steps.clear();
    list.rows.clear();
  }
  pairs_ = 0;
}

void DealtTerms::deal(std::span<const TokenId> sentence, std::uint64_t first_word, const RateLine& rate,
                      const Draws& draws, Random& random) {
  words_.clear();
  numbers_.clear();
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    if (!draws.kept.keeps(sentence[i], random.next())) continue;
    words_.push_back(sentence[i]);
    numbers_.push_back(first_word + i);
  }
  for (std::size_t centre = 0; centre < words_.size(); ++centre) {
    const std::size_t reach = 1 + random.below(static_cast<std::uint32_t>(draws.window));
    const std::size_t begin = centre - std::min(centre, reach);
    const std::size_t end = std::min(words_.size(), centre + reach + 1);
    input_ = words_[centre];
    rate_ = rate.at(numbers_[centre]);
    // All neighbours before all noise: that is the order of a step.
    for (std::size_t i = begin; i < end; ++i) {
      if (i != centre) add(words_[i], true);
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (i == centre) continue;
      for (std::size_t n = 0; n < draws.negatives; ++n) {
        const TokenId noise = draws.noise.draw(random.next());
        if (noise != words_[i]) add(noise, false);
      }
    }
    pairs_ += end - begin - 1;
    for (std::size_t part = 0; part < kParts; ++part) flush(part);
  }
}

void DealtTerms::add(TokenId row, bool positive) {
  const std::size_t part = row % kParts;
  Pending& pending = pending_[part];
  pending.rows[pending.positives + pending.negatives] = row;
  ++(positive ? pending.positives : pending.negatives);
  if (pending.positives + pending.negatives == kMaxStepRows) flush(part);
}

void DealtTerms::flush(std::size_t output_part) {
  Pending& pending = pending_[output_part];
  const auto rows = static_cast<std::size_t>(pending.positives + pending.negatives);
  if (rows == 0) return;
  StepList& list = lists_[input_ % kParts * kParts + output_part];
  list.steps.push_back({input_, pending.positives, pending.negatives, rate_});
  list.rows.insert(list.rows.end(), pending.rows.begin(), pending.rows.begin() + static_cast<std::ptrdiff_t>(rows));
  pending.positives = pending.negatives = 0;
}

}  // namespace firstlayer::skip_gram
