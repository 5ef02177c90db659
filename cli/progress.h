#pragma once
// How far a long piece of work has come: a line on standard error that is drawn again in place, on a terminal only.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/console.h"

namespace firstlayer::cli {

class Progress {
 public:
  /// `label` is one word; `total` in bytes, none if it is not known beforehand.
  Progress(const Console& console, std::string label, std::optional<std::uint64_t> total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Takes the line away.
  ~Progress();

  /// Draws at most ten times a second, and nothing in the first half second.
  void advance(std::uint64_t bytes);

 private:
  void draw(double seconds);

  bool enabled_;
  bool drawn_ = false;
  std::string label_;
  std::optional<std::uint64_t> total_;
  std::uint64_t done_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_draw_;
};

}  // namespace firstlayer::cli
