#pragma once
// What skip-gram tells while it learns: a line on a terminal that is drawn again in place, and lines of results.

#include <cstdint>

#include "cli/console.h"
#include "cli/status_line.h"
#include "firstlayer/train/skip_gram.h"

namespace firstlayer::cli {

class SkipGramLog {
 public:
  SkipGramLog(Console& console, std::uint64_t epochs) : console_(console), line_(console), epochs_(epochs) {}

  /// Draws the line, and prints the mean loss since it was printed before: at the end of each epoch, with --json
  /// whenever a hundredth of all words has gone by, and at the `last` report. Without a pair since then there is no
  /// loss, and no line.
  void add(const SkipGramProgress& progress, bool last);

  /// The (centre, neighbour) pairs that were learned from.
  std::uint64_t pairs() const noexcept { return pairs_; }

 private:
  bool is_due(const SkipGramProgress& progress) const;
  void draw(const SkipGramProgress& progress);
  void print(const SkipGramProgress& progress);

  Console& console_;
  StatusLine line_;
  std::uint64_t epochs_;
  std::uint64_t pairs_ = 0;
  std::uint64_t printed_words_ = 0;
  std::uint64_t printed_pairs_ = 0;
  double loss_ = 0;  ///< of all pairs since then
};

}  // namespace firstlayer::cli
