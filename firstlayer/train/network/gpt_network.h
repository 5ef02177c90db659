#pragma once
// GPT-2's network: ids to logits, to the loss of the next token, and back to a gradient for every parameter.

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/train/network/gpt_adamw.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

class GptWorkspace;

/// The loss was infinite or not a number. Nothing was changed.
class NonFiniteLoss : public std::invalid_argument {
 public:
  NonFiniteLoss(const std::string& what, std::string where) : std::invalid_argument(what), where_(std::move(where)) {}

  /// The first tensor, or the first result on the way, that is not finite: "transformer.h.1.ln_1.weight", "logits".
  const std::string& where() const noexcept { return where_; }

 private:
  std::string where_;
};

struct GptNetworkOptions {
  unsigned threads = 0;  ///< 0: all. The bits do not depend on it.
  bool plain = false;    ///< the readable loops that the fast kernels are compared with, 30 times slower
  /// Exponentials of the logits are kept for the way back where they fit into this; otherwise they are computed twice,
  /// which makes a step some 5 to 20 % longer. B * T * V * 4 bytes.
  std::size_t head_memory = std::size_t{512} << 20;
};

struct BackwardOptions {
  double scale = 1;  ///< what the gradient is multiplied by: 1/n to accumulate the mean of n batches
  bool add = false;  ///< to what the gradients hold already
};

/// A target that is -1 in a signed type, or 2^32 - 1, is ignored: its row has no loss. The loss is the mean over the
/// others.
class GptNetwork {
 public:
  /// Works on `parameters`, which outlive this and may move between calls. All memory is taken here, for batches of up
  /// to B * T ids of any shape, batch being (B, T). Throws std::invalid_argument for an empty batch, std::out_of_range
  /// for a T beyond the context.
  GptNetwork(const GptParameters& parameters, const Shape<2>& batch, const GptNetworkOptions& options = {});
  ~GptNetwork();

  /// out (B, T, V): logits[b, t] of the token after ids[b, 0 .. t]. Throws std::out_of_range for an id that is not
  /// below V, naming its (b, t), or a T beyond the context; std::invalid_argument for more ids than the network was
  /// made for, or an out of another shape.
  void logits(IdView ids, View<float, 3> out);

  /// The mean cross-entropy in nats; exp() of it is the perplexity. Throws as logits(), NonFiniteLoss, and
  /// std::invalid_argument for targets of another shape or if all of them are ignored.
  double loss(IdView ids, IdView targets);

  /// The loss, and its gradient for every parameter. Throws as loss(); std::invalid_argument for gradients of another
  /// configuration.
  double backward(IdView ids, IdView targets, GptParameters& gradients, const BackwardOptions& options = {});

  /// The loss, and a step of the optimizer by its gradient, whose pieces are used as soon as they are made: what
  /// backward() and optimizer.step() do, bit for bit, without the memory of a gradient. Throws as loss(), then nothing
  /// has moved; std::invalid_argument for an optimizer of other parameters; NonFiniteGradient once the step is taken.
  double train_step(IdView ids, IdView targets, GptAdamW& optimizer);

 private:
  class Pass;

  const GptParameters& parameters_;
  GptNetworkOptions options_;
  std::unique_ptr<GptWorkspace> work_;
};

}  // namespace firstlayer
