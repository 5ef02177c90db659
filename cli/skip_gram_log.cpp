#include "cli/skip_gram_log.h"

#include <fmt/format.h>

#include "cli/token_text.h"

namespace firstlayer::cli {

void SkipGramLog::add(const SkipGramProgress& progress, bool last) {
  pairs_ += progress.pairs;
  loss_ += progress.loss * static_cast<double>(progress.pairs);
  if (pairs_ > printed_pairs_ && (last || is_due(progress))) {
    line_.clear();
    print(progress);
  }
  if (last) {
    line_.clear();
  } else if (line_.is_due()) {
    draw(progress);
  }
}

bool SkipGramLog::is_due(const SkipGramProgress& progress) const {
  if (!console_.json()) return progress.words % (progress.total_words / epochs_) == 0;
  const auto hundredths = [&](std::uint64_t words) { return words * 100 / progress.total_words; };
  return hundredths(progress.words) > hundredths(printed_words_);
}

void SkipGramLog::draw(const SkipGramProgress& progress) {
  const double left = static_cast<double>(progress.total_words - progress.words) / progress.words_per_second;
  line_.draw(fmt::format("epoch {} of {}  loss {:.4f}  lr {:.2e}  {} words/s  {} left", progress.epoch, epochs_,
                         progress.loss, progress.rate, grouped(static_cast<std::uint64_t>(progress.words_per_second)),
                         clock_text(left)));
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

}  // namespace firstlayer::cli
