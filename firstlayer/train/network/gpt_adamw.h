#pragma once
// AdamW over all parameters of a GPT-2: matrices and tables decay, biases and norms do not.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

class GradientSink;

/// torch.optim.AdamW(fused=True) with two groups, weight_decay and 0, to the bit for the same gradients; PyTorch rounds
/// otherwise in the last numbers of a tensor whose size is not a multiple of 16.
class GptAdamW {
 public:
  /// `parameters` outlive this. Throws std::invalid_argument for an option out of PyTorch's range, or a beta1 of 0.5
  /// or less, for which PyTorch has another formula.
  GptAdamW(GptParameters& parameters, const AdamW& options);
  ~GptAdamW();

  const AdamW& options() const noexcept { return options_; }
  /// From the next step on. Throws std::invalid_argument for a rate that the constructor would refuse.
  void set_learning_rate(double lr);

  /// Steps taken.
  std::uint64_t steps() const noexcept { return steps_; }

  /// The tensor of that name stays as it is from now on, and so do its moments; or learns again. Throws
  /// std::invalid_argument naming what is not there.
  void set_frozen(std::string_view name, bool frozen = true);

  /// The names of those that stay, in the order of the layout.
  std::vector<std::string> frozen() const;

  /// A step by `factor` times gradients that GptNetwork::backward() left; with that of gradient_clip(), they are
  /// clipped without another pass over memory. Throws std::invalid_argument for gradients of another configuration;
  /// NonFiniteGradient naming the tensor, once the step is taken with zeros in place of what is not finite. The bits do
  /// not depend on `threads` (0: all).
  void step(const GptParameters& gradients, unsigned threads = 0, float factor = 1);

  const GptParameters& parameters() const noexcept { return parameters_; }

  /// The moments, "exp_avg" and "exp_avg_sq" in PyTorch, as a checkpoint keeps them.
  const GptParameters& first_moments() const noexcept { return first_; }
  const GptParameters& second_moments() const noexcept { return second_; }
  GptParameters& mutable_first_moments() noexcept { return first_; }
  GptParameters& mutable_second_moments() noexcept { return second_; }
  /// For a checkpoint, along with its moments.
  void set_steps(std::uint64_t steps) noexcept { steps_ = steps; }

 private:
  friend class GptNetwork;
  class Sink;

  /// A step whose gradients come in pieces: each piece of a parameter moves as soon as it is there.
  GradientSink& begin_step(float factor = 1);
  /// Throws NonFiniteGradient, once the step is taken.
  void end_step();

  GptParameters& parameters_;
  AdamW options_;
  GptParameters first_;
  GptParameters second_;
  std::vector<bool> frozen_;
  std::uint64_t steps_ = 0;
  std::unique_ptr<Sink> sink_;
};

}  // namespace firstlayer
