#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace firstlayer::cli {

using std::chrono::steady_clock;

Progress::Progress(const Console& console, std::string label, std::optional<std::uint64_t> total)
    : line_(console, std::chrono::milliseconds(500)),
      label_(std::move(label)),
      total_(total),
      start_(steady_clock::now()) {}

void Progress::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (line_.is_due()) draw(std::chrono::duration<double>(steady_clock::now() - start_).count());
}

void Progress::draw(double seconds) {
  constexpr double kMega = 1e6;
  const double megabytes = static_cast<double>(done_) / kMega;
  std::string line = label_ + " ";
  if (total_ && *total_ > 0) {
    constexpr std::size_t kWidth = 24;
    const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(*total_));
    const auto filled = static_cast<std::size_t>(part * kWidth);
    line += fmt::format("[{}{}] {:3.0f} %  {:.0f} of {:.0f} MB", std::string(filled, '#'),
                        std::string(kWidth - filled, '.'), part * 100, megabytes, static_cast<double>(*total_) / kMega);
  } else {
    line += fmt::format("{:.0f} MB", megabytes);
  }
  line_.draw(line + fmt::format(", {:.1f} MB/s", megabytes / seconds));
}

}  // namespace firstlayer::cli
