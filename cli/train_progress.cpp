#include "cli/train_progress.h"

#include <fmt/format.h>

#include "cli/token_text.h"

namespace firstlayer::cli {

using std::chrono::steady_clock;

TrainProgress::TrainProgress(const Console& console, std::uint64_t first, std::uint64_t last, std::uint64_t ids)
    : enabled_(console.shows_progress()),
      first_(first),
      last_(last),
      ids_(ids),
      since_(steady_clock::now()),
      next_draw_(since_) {}

TrainProgress::~TrainProgress() { clear(); }

void TrainProgress::advance(const TrainingStep& step) {
  done_ = step.step - first_;
  const steady_clock::time_point now = steady_clock::now();
  if (!enabled_ || now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  const double left = static_cast<double>((last_ - step.step) * ids_) / rate();
  write_error(fmt::format("\rstep {} of {}  loss {:.4f}  lr {:.2e}  {} tokens/s  {} left\x1b[K", grouped(step.step),
                          grouped(last_), step.loss, step.learning_rate, grouped(static_cast<std::uint64_t>(rate())),
                          clock_text(left)));
  drawn_ = true;
}

void TrainProgress::clear() {
  if (drawn_) write_error("\r\x1b[K");
  drawn_ = false;
}

double TrainProgress::rate() const {
  const double seconds = std::chrono::duration<double>(spent_ + (steady_clock::now() - since_)).count();
  return static_cast<double>(done_ * ids_) / seconds;
}

void TrainProgress::pause() { spent_ += steady_clock::now() - since_; }

void TrainProgress::go_on() { since_ = steady_clock::now(); }

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace firstlayer::cli
