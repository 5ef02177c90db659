#include "cli/skip_gram_log.h"

#include <fmt/format.h>

#include "cli/token_text.h"
#include "cli/train_progress.h"

namespace firstlayer::cli {

using std::chrono::steady_clock;

void SkipGramLog::add(const SkipGramProgress& progress, bool last) {
  pairs_ += progress.pairs;
  loss_ += progress.loss * static_cast<double>(progress.pairs);
  if (pairs_ > printed_pairs_ && (last || is_due(progress))) {
    clear();
    print(progress);
  }
  last ? clear() : draw(progress);
}

bool SkipGramLog::is_due(const SkipGramProgress& progress) const {
  if (!console_.json()) return progress.words % (progress.total_words / epochs_) == 0;
  const auto hundredths = [&](std::uint64_t words) { return words * 100 / progress.total_words; };
  return hundredths(progress.words) > hundredths(printed_words_);
}

void SkipGramLog::draw(const SkipGramProgress& progress) {
  const steady_clock::time_point now = steady_clock::now();
  if (!console_.shows_progress() || now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  const double left = static_cast<double>(progress.total_words - progress.words) / progress.words_per_second;
  write_error(fmt::format("\repoch {} of {}  loss {:.4f}  lr {:.2e}  {} words/s  {} left\x1b[K", progress.epoch,
                          epochs_, progress.loss, progress.rate,
                          grouped(static_cast<std::uint64_t>(progress.words_per_second)), clock_text(left)));
  drawn_ = true;
}

void SkipGramLog::print(const SkipGramProgress& progress) {
  const double loss = loss_ / static_cast<double>(pairs_ - printed_pairs_);
  if (console_.json()) {
    console_.print("{}\n", json_text({{"words", progress.words},
                                      {"epoch", progress.epoch},
                                      {"loss", loss},
                                      {"lr", progress.rate},
                                      {"words_per_second", progress.words_per_second}}));
  } else {
    console_.print("epoch {}  loss {:.4f}\n", progress.epoch, loss);
  }
  console_.flush();
  printed_words_ = progress.words;
  printed_pairs_ = pairs_;
  loss_ = 0;
}

void SkipGramLog::clear() {
  if (drawn_) write_error("\r\x1b[K");
  drawn_ = false;
}

}  // namespace firstlayer::cli
