#include "cli/status_line.h"

#include <fmt/format.h>

#include <cstdint>

namespace firstlayer::cli {

using std::chrono::steady_clock;

StatusLine::StatusLine(const Console& console, std::chrono::milliseconds silence)
    : enabled_(console.shows_progress()), next_(steady_clock::now() + silence) {}

bool StatusLine::is_due() {
  const steady_clock::time_point now = steady_clock::now();
  if (!enabled_ || now < next_) return false;
  next_ = now + std::chrono::milliseconds(100);
  return true;
}

void StatusLine::draw(std::string_view text) {
  write_error(fmt::format("\r{}\x1b[K", text));
  drawn_ = true;
}

void StatusLine::clear() {
  if (drawn_) write_error("\r\x1b[K");
  drawn_ = false;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace firstlayer::cli
