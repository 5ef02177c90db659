#pragma once
// A line on standard error that is drawn again in place, on a terminal only.

#include <chrono>
#include <string>
#include <string_view>

#include "cli/console.h"

namespace firstlayer::cli {

class StatusLine {
 public:
  /// Nothing is drawn before `silence` is over.
  explicit StatusLine(const Console& console, std::chrono::milliseconds silence = {});
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  /// Takes the line away.
  ~StatusLine() { clear(); }

  /// Whether to draw now: at most ten times a second it is true.
  bool is_due();

  void draw(std::string_view text);

  /// Takes the line away for something else to be printed.
  void clear();

 private:
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

/// 75 -> "1:15", 3700 -> "1:01:40".
std::string clock_text(double seconds);

}  // namespace firstlayer::cli
