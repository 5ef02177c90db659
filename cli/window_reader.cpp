#include "cli/window_reader.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "cli/failure.h"

namespace firstlayer::cli {
namespace {

WindowPlan plan(const IdSpool& ids, const WindowFlags& flags) {
  if (ids.size() <= flags.context) {
    throw Failure(kBadData,
                  fmt::format("--context {} needs a text of more than {} ids, received {}", flags.context,
                              flags.context, ids.size()),
                  "give a longer text or a smaller --context");
  }
  return plan_windows(ids.size(), flags.context, flags.stride.value_or(flags.context));
}

/// The windows of an epoch that are not dropped.
std::size_t kept_windows(std::size_t windows, const WindowFlags& flags) {
  if (!flags.drop_last) return windows;
  if (windows < flags.batch_size) {
    throw Failure(kBadData,
                  fmt::format("--batch-size {} with --drop-last needs a text of at least {} windows, received {}",
                              flags.batch_size, flags.batch_size, windows),
                  "give a longer text, a smaller --batch-size, or leave --drop-last out");
  }
  return windows - windows % flags.batch_size;
}

}  // namespace

void add_window_flags(CLI::App& app, WindowFlags& flags) {
  add_number(app, "--context", flags.context, "T, the ids in a window")->group(kWindowGroup);
  add_number(app, "--stride", flags.stride, "ids from the start of a window to the start of the next", "the context")
      ->group(kWindowGroup);
  add_number(app, "--batch-size", flags.batch_size, "B, the windows in a batch")->group(kWindowGroup);
  app.add_flag("--shuffle", flags.shuffle,
               "see the windows in the order of PyTorch's DataLoader after manual_seed(--seed)")
      ->group(kWindowGroup);
  app.add_flag("--drop-last", flags.drop_last, "leave out a last batch that is shorter than the others")
      ->group(kWindowGroup);
  add_number(app, "--seed", flags.seed, "the seed of PyTorch's manual_seed", {.least = 0})->group(kWindowGroup);
}

WindowReader::WindowReader(const IdSpool& ids, const WindowFlags& flags)
    : ids_(ids),
      plan_(cli::plan(ids, flags)),
      batch_size_(flags.batch_size),
      windows_(kept_windows(plan_.count, flags)) {
  if (!flags.shuffle) return;
  order_.emplace(
      plan_.count,
      BatchOptions{.batch_size = flags.batch_size, .drop_last = flags.drop_last, .shuffle = true, .seed = flags.seed});
}

std::size_t WindowReader::window(std::size_t place) const {
  return order_ ? order_->batch(place / batch_size_)[place % batch_size_] : place;
}

void WindowReader::next_epoch() {
  if (order_) order_->next_epoch();
}

void WindowReader::read(std::size_t first, Matrix<TokenId> inputs, Matrix<TokenId> targets) {
  const std::size_t count = inputs.dim(0);
  const std::size_t span = plan_.context + 1;
  numbers_.resize(count);
  for (std::size_t b = 0; b < count; ++b) numbers_[b] = window(first + b);

  // Neighbours that touch or overlap are one stretch of ids; others are read one by one and laid end to end.
  const bool one_stretch = plan_.stride <= plan_.context &&
                           std::adjacent_find(numbers_.begin(), numbers_.end(), [](std::size_t a, std::size_t b) {
                             return b != a + 1;
                           }) == numbers_.end();
  WindowPlan local{plan_.context, plan_.stride, count};
  if (one_stretch) {
    stretch_.resize((count - 1) * plan_.stride + span);
    ids_.read(numbers_.front() * plan_.stride, stretch_);
  } else {
    local.stride = span;
    stretch_.resize(count * span);
    for (std::size_t b = 0; b < count; ++b) {
      ids_.read(numbers_[b] * plan_.stride, std::span(stretch_).subspan(b * span, span));
    }
  }
  std::iota(numbers_.begin(), numbers_.end(), std::size_t{0});
  copy_windows(stretch_, local, numbers_, inputs, targets);
}

}  // namespace firstlayer::cli
