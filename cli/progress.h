#pragma once
// How far a long piece of work has come, in a line of its own.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/status_line.h"

namespace firstlayer::cli {

class Progress {
 public:
  /// `label` is one word; `total` in bytes, none if it is not known beforehand.
  Progress(const Console& console, std::string label, std::optional<std::uint64_t> total);

  /// Draws nothing in the first half second.
  void advance(std::uint64_t bytes);

 private:
  void draw(double seconds);

  StatusLine line_;
  std::string label_;
  std::optional<std::uint64_t> total_;
  std::uint64_t done_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace firstlayer::cli
