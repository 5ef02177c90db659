#pragma once
// How far a training has come, in one line.

#include <chrono>
#include <cstdint>

#include "cli/console.h"
#include "cli/status_line.h"
#include "firstlayer/train/trainer/trainer.h"

namespace firstlayer::cli {

class TrainProgress {
 public:
  /// A run from after step `first` to step `last`, each step of `ids` ids.
  TrainProgress(const Console& console, std::uint64_t first, std::uint64_t last, std::uint64_t ids);

  void advance(const TrainingStep& step);

  /// Takes the line away for something else to be printed.
  void clear() { line_.clear(); }

  /// Ids a second since the start, or since the last pause.
  double rate() const;

  /// Time between the two is not counted.
  void pause();
  void go_on();

 private:
  StatusLine line_;
  std::uint64_t first_;
  std::uint64_t last_;
  std::uint64_t ids_;
  std::uint64_t done_ = 0;  ///< steps
  std::chrono::steady_clock::duration spent_{};
  std::chrono::steady_clock::time_point since_;
};

}  // namespace firstlayer::cli
