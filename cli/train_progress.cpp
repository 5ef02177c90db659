#include "cli/train_progress.h"

#include <fmt/format.h>

#include "cli/token_text.h"

namespace firstlayer::cli {

using std::chrono::steady_clock;

TrainProgress::TrainProgress(const Console& console, std::uint64_t first, std::uint64_t last, std::uint64_t ids)
    : line_(console), first_(first), last_(last), ids_(ids), since_(steady_clock::now()) {}

void TrainProgress::advance(const TrainingStep& step) {
  done_ = step.step - first_;
  if (!line_.is_due()) return;
  const double left = static_cast<double>((last_ - step.step) * ids_) / rate();
  line_.draw(fmt::format("step {} of {}  loss {:.4f}  lr {:.2e}  {} tokens/s  {} left", grouped(step.step),
                         grouped(last_), step.loss, step.learning_rate, grouped(static_cast<std::uint64_t>(rate())),
                         clock_text(left)));
}

double TrainProgress::rate() const {
  const double seconds = std::chrono::duration<double>(spent_ + (steady_clock::now() - since_)).count();
  return static_cast<double>(done_ * ids_) / seconds;
}

void TrainProgress::pause() { spent_ += steady_clock::now() - since_; }

void TrainProgress::go_on() { since_ = steady_clock::now(); }

}  // namespace firstlayer::cli
