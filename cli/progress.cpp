#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace firstlayer::cli {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Progress::Progress(const Console& console, std::string label, std::optional<std::uint64_t> total)
    : enabled_(console.shows_progress()),
      label_(std::move(label)),
      total_(total),
      start_(steady_clock::now()),
      next_draw_(start_ + milliseconds(500)) {}

Progress::~Progress() {
  if (drawn_) write_error("\r\x1b[K");
}

void Progress::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (!enabled_) return;
  const steady_clock::time_point now = steady_clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + milliseconds(100);
  draw(std::chrono::duration<double>(now - start_).count());
}

void Progress::draw(double seconds) {
  constexpr double kMega = 1e6;
  const double megabytes = static_cast<double>(done_) / kMega;
  std::string line = fmt::format("\r{} ", label_);
  if (total_ && *total_ > 0) {
    constexpr std::size_t kWidth = 24;
    const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(*total_));
    const auto filled = static_cast<std::size_t>(part * kWidth);
    line += fmt::format("[{}{}] {:3.0f} %  {:.0f} of {:.0f} MB", std::string(filled, '#'),
                        std::string(kWidth - filled, '.'), part * 100, megabytes, static_cast<double>(*total_) / kMega);
  } else {
    line += fmt::format("{:.0f} MB", megabytes);
  }
  write_error(line + fmt::format(", {:.1f} MB/s\x1b[K", megabytes / seconds));
  drawn_ = true;
}

}  // namespace firstlayer::cli
