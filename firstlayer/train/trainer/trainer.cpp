#include "firstlayer/train/trainer/trainer.h"

#include <algorithm>
#include <stdexcept>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/optimizer/clip.h"
#include "firstlayer/lookup/optimizer/option_fields.h"

namespace firstlayer {
namespace {

void check_ids_below(std::span<const TokenId> ids, std::size_t vocabulary) {
  const auto beyond = std::ranges::find_if(ids, [&](TokenId id) { return id >= vocabulary; });
  if (beyond == ids.end()) return;
  throw_out_of_range("Trainer", "ids below V = " + std::to_string(vocabulary),
                     std::to_string(*beyond) + " at place " + std::to_string(beyond - ids.begin()));
}

std::string in_step(std::uint64_t step, const char* what) { return "in step " + std::to_string(step) + ": " + what; }

}  // namespace

Trainer::Trainer(GptParameters& parameters, std::span<const TokenId> ids, const TrainerOptions& options)
    : parameters_(parameters),
      options_(options),
      batches_(ids, options.batches),
      network_(parameters, batches_.shape(), {.threads = options.threads}),
      optimizer_(parameters, options.optimizer),
      inputs_(batches_.shape()),
      targets_(batches_.shape()) {
  check_ids_below(ids, parameters.config().vocabulary);
  if (options.accumulate == 0) throw_invalid("Trainer", "accumulate of 1 or more", "0");
  if (options.clip && !(*options.clip > 0)) throw_invalid("Trainer", "clip above 0", number_text(*options.clip));
  learning_rate(options.schedule, 1);  // throws what is wrong with it
  for (const std::string& name : options.frozen) optimizer_.set_frozen(name);
  if (options.clip || options.accumulate > 1) gradients_.emplace(parameters.config());
  if (gradients_) named_gradients_ = gradients_->named();
}

TrainingStep Trainer::step() {
  TrainingStep step{steps() + 1, 0, learning_rate(options_.schedule, steps() + 1), {}};
  optimizer_.set_learning_rate(step.learning_rate);
  if (gradients_) {
    const float factor = add_gradients(step);
    optimizer_.step(*gradients_, options_.threads, factor);
  } else {
    batches_.copy(steps(), inputs_, targets_);
    step.loss = network_.train_step(inputs_, targets_, optimizer_);
  }
  return step;
}

/// What the network and clipping say does not name the step.
float Trainer::add_gradients(TrainingStep& step) try {
  const double share = 1 / static_cast<double>(options_.accumulate);
  for (std::size_t i = 0; i < options_.accumulate; ++i) {
    batches_.copy(steps() * options_.accumulate + i, inputs_, targets_);
    step.loss += share * network_.backward(inputs_, targets_, *gradients_, {.scale = share, .add = i > 0});
  }
  if (!options_.clip) return 1;
  const GradientClip clip = gradient_clip(named_gradients_, *options_.clip, options_.threads);
  step.norm = clip.norm;
  return clip.factor;
} catch (const NonFiniteLoss& error) {
  throw NonFiniteLoss(in_step(step.step, error.what()), error.where());
} catch (const std::invalid_argument& error) {
  throw std::invalid_argument(in_step(step.step, error.what()));
}

std::optional<double> Trainer::held_out_loss() {
  const std::size_t windows = batches_.held_out_windows();
  if (windows == 0) return {};
  double sum = 0;
  for (std::size_t first = 0; first < windows; first += inputs_.dim(0)) {
    const Shape<2> shape = {std::min(inputs_.dim(0), windows - first), inputs_.dim(1)};
    const Matrix<TokenId> inputs(inputs_.flat().first(element_count(shape)), shape);
    const Matrix<TokenId> targets(targets_.flat().first(element_count(shape)), shape);
    batches_.copy_held_out(first, inputs, targets);
    sum += network_.loss(inputs, targets) * static_cast<double>(shape[0]);
  }
  return sum / static_cast<double>(windows);
}

}  // namespace firstlayer
