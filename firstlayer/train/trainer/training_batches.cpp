#include "firstlayer/train/trainer/training_batches.h"

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/optimizer/option_fields.h"

namespace firstlayer {
namespace {

/// How many of `count` ids steps see.
std::size_t training_count(std::size_t count, const TrainingBatchOptions& options) {
  if (options.batch_size == 0 || options.context == 0) {
    throw_invalid("TrainingBatches", "a batch (B, T) of 1 or more ids",
                  shape_text(Shape<2>{options.batch_size, options.context}));
  }
  if (!(options.held_out >= 0 && options.held_out < 1)) {
    throw_invalid("TrainingBatches", "held_out of 0 or more and below 1", number_text(options.held_out));
  }
  return count - static_cast<std::size_t>(std::floor(static_cast<double>(count) * options.held_out));
}

/// The windows of a part of the text, which must hold `least` of them.
WindowPlan plan_part(std::string_view part, std::size_t ids, std::size_t least, std::size_t context) {
  const std::size_t windows = ids > context ? (ids - 1) / context : 0;
  if (windows < least) {
    throw_invalid("TrainingBatches",
                  std::string("ids ").append(part).append(" for ") + std::to_string(least) +
                      " windows of T + 1 = " + std::to_string(context + 1),
                  std::to_string(ids) + ", which make " + std::to_string(windows));
  }
  return plan_windows(ids, context, context);
}

}  // namespace

TrainingBatches::TrainingBatches(std::span<const TokenId> ids, const TrainingBatchOptions& options)
    : options_(options),
      training_(ids.first(training_count(ids.size(), options))),
      held_out_(ids.subspan(training_.size())),
      plan_(plan_part("to train on", training_.size(), options.batch_size, options.context)),
      held_out_plan_(options.held_out == 0 ? WindowPlan{options.context, options.context, 0}
                                           : plan_part("to hold out", held_out_.size(), 1, options.context)),
      order_(first_epoch()) {}

BatchOrder TrainingBatches::first_epoch() const {
  return {plan_.count, {.batch_size = options_.batch_size, .drop_last = true, .shuffle = true, .seed = options_.seed}};
}

void TrainingBatches::copy(std::uint64_t number, Matrix<TokenId> inputs, Matrix<TokenId> targets) {
  const std::uint64_t epoch = number / batches();
  if (epoch < epoch_) {
    order_ = first_epoch();
    epoch_ = 0;
  }
  for (; epoch_ < epoch; ++epoch_) order_.next_epoch();
  copy_windows(training_, plan_, order_.batch(number % batches()), inputs, targets);
}

void TrainingBatches::copy_held_out(std::size_t first, Matrix<TokenId> inputs, Matrix<TokenId> targets) const {
  std::vector<std::size_t> windows(inputs.dim(0));
  std::iota(windows.begin(), windows.end(), first);
  copy_windows(held_out_, held_out_plan_, windows, inputs, targets);
}

}  // namespace firstlayer
