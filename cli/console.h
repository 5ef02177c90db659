#pragma once
// Where a command prints: results on standard output, the rest on standard error.

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "cli/flags.h"

namespace firstlayer::cli {

class Console {
 public:
  /// Reads NO_COLOR, COLORTERM and the size of the terminal.
  explicit Console(const Globals& globals);

  bool json() const noexcept { return json_; }
  bool quiet() const noexcept { return quiet_; }
  unsigned threads() const noexcept { return threads_; }

  bool colors() const noexcept { return colors_; }            ///< on standard output
  bool true_color() const noexcept { return true_color_; }    ///< 24 bits rather than 256 colours
  std::size_t columns() const noexcept { return columns_; }   ///< of the terminal, 80 elsewhere
  bool shows_progress() const noexcept { return progress_; }  ///< standard error is a terminal, and not --quiet

  /// Results, exact bytes. Throws OutputClosed when nobody reads them any more, FileError when they cannot be written.
  void print(std::string_view bytes);

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    print(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
  }

  /// Writes what print() still holds. A command that does not reach it has not succeeded.
  void flush();

  /// A line on standard error for people, unless --quiet.
  void note(std::string_view line) const;

 private:
  bool json_;
  bool quiet_;
  unsigned threads_;
  bool colors_;
  bool true_color_;
  bool progress_;
  std::size_t columns_;
  std::string held_;  ///< printed, not written yet
};

/// Writes to standard error; what cannot be written there is lost.
void write_error(std::string_view bytes);

}  // namespace firstlayer::cli
