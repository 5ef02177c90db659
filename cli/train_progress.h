#pragma once
// How far a training has come, in one line.

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/console.h"
#include "firstlayer/train/trainer/trainer.h"

namespace firstlayer::cli {

class TrainProgress {
 public:
  /// A run from after step `first` to step `last`, each step of `ids` ids.
  TrainProgress(const Console& console, std::uint64_t first, std::uint64_t last, std::uint64_t ids);
  TrainProgress(const TrainProgress&) = delete;
  TrainProgress& operator=(const TrainProgress&) = delete;
  /// Takes the line away.
  ~TrainProgress();

  /// Draws on a terminal, at most ten times a second.
  void advance(const TrainingStep& step);

  /// Takes the line away for something else to be printed.
  void clear();

  /// Ids a second since the start, or since the last pause.
  double rate() const;

  /// Time between the two is not counted.
  void pause();
  void go_on();

 private:
  bool enabled_;
  bool drawn_ = false;
  std::uint64_t first_;
  std::uint64_t last_;
  std::uint64_t ids_;
  std::uint64_t done_ = 0;  ///< steps
  std::chrono::steady_clock::duration spent_{};
  std::chrono::steady_clock::time_point since_;
  std::chrono::steady_clock::time_point next_draw_;
};

/// 75 -> "1:15", 3700 -> "1:01:40".
std::string clock_text(double seconds);

}  // namespace firstlayer::cli
