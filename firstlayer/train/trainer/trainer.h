#pragma once
// A GPT-2 that learns from a text: steps by next-token loss, and the loss on what no step has seen.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/optimizer/clip.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/optimizer/schedule.h"
#include "firstlayer/train/network/gpt_adamw.h"
#include "firstlayer/train/network/gpt_network.h"
#include "firstlayer/train/network/gpt_parameters.h"
#include "firstlayer/train/trainer/training_batches.h"

namespace firstlayer {

struct TrainerOptions {
  TrainingBatchOptions batches;
  std::size_t accumulate = 1;                                      ///< batches whose mean gradient makes a step
  AdamW optimizer{.beta2 = 0.95, .weight_decay = 0.1};             ///< lr is the schedule's
  LearningRateSchedule schedule = ConstantSchedule{.peak = 1e-3};  ///< by step
  std::optional<double> clip = 1.0;                                ///< the longest gradient; nothing: as it is
  std::vector<std::string> frozen;                                 ///< tensors that stay as they are
  unsigned threads = 0;                                            ///< 0: all. The bits do not depend on it.
};

/// What one step did.
struct TrainingStep {
  std::uint64_t step;  ///< counted from 1
  double loss;         ///< mean cross-entropy in nats of its batches, before it
  double learning_rate;
  std::optional<double> norm;  ///< of the gradient before clipping, if it is clipped
};

/// Step t depends on the parameters, the moments, t and the options alone: with a checkpoint's parameters, moments and
/// steps a training goes on to the bit as if it had not stopped.
class Trainer {
 public:
  /// The caller owns the ids and the parameters, which outlive this. Throws std::invalid_argument for ids, options or
  /// tensors that do not fit, std::out_of_range for a T beyond the context or an id that is not below V.
  Trainer(GptParameters& parameters, std::span<const TokenId> ids, const TrainerOptions& options);

  const TrainingBatches& batches() const noexcept { return batches_; }
  const GptParameters& parameters() const noexcept { return parameters_; }

  /// Moments and steps taken: what a checkpoint keeps beside the parameters.
  GptAdamW& optimizer() noexcept { return optimizer_; }
  std::uint64_t steps() const noexcept { return optimizer_.steps(); }

  /// Throws NonFiniteLoss, and nothing has moved, or NonFiniteGradient, std::invalid_argument from clipping; each
  /// message names the step and the tensor.
  TrainingStep step();

  /// The mean loss over the held-out windows; nothing if none are held out.
  std::optional<double> held_out_loss();

 private:
  /// The factor that clips them.
  float add_gradients(TrainingStep& step);

  GptParameters& parameters_;
  TrainerOptions options_;
  TrainingBatches batches_;
  GptNetwork network_;
  GptAdamW optimizer_;
  std::optional<GptParameters> gradients_;  ///< if they are clipped or added up
  std::vector<NamedGradient> named_gradients_;
  Tensor<TokenId, 2> inputs_;
  Tensor<TokenId, 2> targets_;
};

}  // namespace firstlayer
