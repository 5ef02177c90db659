#include "firstlayer/train/network/gpt_network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/train/network/gpt_pass.h"
#include "firstlayer/train/network/gradient_sink.h"

namespace firstlayer {
namespace {

/// Keeps the gradients, or adds them up.
class GradientStore : public GradientSink {
 public:
  GradientStore(GptParameters& gradients, bool add) : gradients_(gradients), add_(add) {}

  void take(std::size_t tensor, std::size_t offset, std::span<const float> numbers) override {
    float* to = gradients_[tensor].data() + offset;
    if (!add_) {
      std::ranges::copy(numbers, to);
      return;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) to[i] += numbers[i];
  }

 private:
  GptParameters& gradients_;
  bool add_;
};

void check_batch(std::string_view where, const Shape<2>& batch, std::size_t context, std::size_t capacity) {
  if (batch[0] == 0 || batch[1] == 0) throw_invalid(where, "ids (B, T), at least one", shape_text(batch));
  if (batch[1] > context) {
    throw_out_of_range(where, "rows of T <= context = " + std::to_string(context) + " ids",
                       "T = " + std::to_string(batch[1]));
  }
  if (batch[0] > capacity / batch[1]) {
    throw_invalid(where, "at most the " + std::to_string(capacity) + " ids that the network was made for",
                  shape_text(batch));
  }
}

bool is_ignored(std::int64_t target) { return target == -1 || target == std::numeric_limits<std::uint32_t>::max(); }

/// Writes the targets (B, T), kNoTarget for those that are ignored; how many are not.
std::size_t read_targets(std::string_view where, const Shape<2>& batch, IdView targets, std::size_t vocabulary,
                         std::span<std::int64_t> out) {
  if (targets.shape() != batch) {
    throw_invalid(where, "targets (B, T) = " + shape_text(batch) + " for as many ids", shape_text(targets.shape()));
  }
  std::size_t count = 0;
  std::ranges::fill(out, kNoTarget);
  const auto read = [&](const auto& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto target = static_cast<std::int64_t>(ids.flat()[i]);
      if (is_ignored(target)) continue;
      if (target < 0 || target >= static_cast<std::int64_t>(vocabulary)) {
        throw_out_of_range(where, "targets below V = " + std::to_string(vocabulary) + ", or -1",
                           std::to_string(target) + " at (b=" + std::to_string(i / batch[1]) +
                               ", t=" + std::to_string(i % batch[1]) + ")");
      }
      out[i] = target;
      ++count;
    }
  };
  std::visit(read, targets.any());
  if (count == 0) throw_invalid(where, "a target that is not ignored", "none");
  return count;
}

GptNetworkOptions with_threads(GptNetworkOptions options) {
  if (options.threads == 0) options.threads = hardware_threads();
  return options;
}

}  // namespace

GptNetwork::GptNetwork(const GptParameters& parameters, const Shape<2>& batch, const GptNetworkOptions& options)
    : parameters_(parameters), options_(with_threads(options)) {
  const GptConfig& config = parameters.config();
  const std::size_t rows = element_count(batch);
  check_batch("GptNetwork", batch, config.context, rows);
  const std::size_t exponentials = head_exponentials(config.vocabulary, panels_for(rows) * kPanelRows);
  const bool keep = !options_.plain && exponentials <= options_.head_memory / sizeof(float);
  work_ = std::make_unique<GptWorkspace>(config, rows, options_.threads, keep);
}

GptNetwork::~GptNetwork() = default;

/// One batch on its way through the network, once its shape is checked.
class GptNetwork::Pass : public GptPass {
 public:
  Pass(GptNetwork& network, std::string_view where, IdView ids)
      : GptPass(network.parameters_, *network.work_, network.options_.plain ? kPlainKernels : kFastKernels,
                network.options_.threads),
        where_(where),
        batch_(ids.shape()) {
    const GptConfig& config = network.parameters_.config();
    check_batch(where, batch_, config.context, network.work_->capacity());
    ids_.emplace(where, Shape<2>{config.vocabulary, config.dim}, ids);
    begin(ids_->view());
  }

  /// Before anything is computed, so that a bad target costs nothing.
  void set_targets(IdView targets, double scale) {
    const std::size_t count = read_targets(where_, batch_, targets, config().vocabulary, target_memory());
    GptPass::set_targets(count, scale);
  }

  /// The loss, which is finite. `step` is for the error.
  double finite_loss(bool with_gradient, std::optional<std::uint64_t> step = {}) {
    const double loss = GptPass::loss(with_gradient);
    if (std::isfinite(loss)) return loss;
    const std::string where = first_non_finite();
    const std::string when = step ? " at step " + std::to_string(*step) : "";
    throw NonFiniteLoss(
        mismatch_message(where_, "a finite loss",
                         (std::isnan(loss) ? "nan" : "inf") + when + "; the first that is not finite: " + where),
        where);
  }

 private:
  std::string_view where_;
  Shape<2> batch_;
  std::optional<CheckedIds> ids_;
};

void GptNetwork::logits(IdView ids, View<float, 3> out) {
  Pass pass(*this, "GptNetwork::logits", ids);
  const Shape<3> expected = {ids.dim(0), ids.dim(1), parameters_.config().vocabulary};
  if (out.shape() != expected) {
    throw_invalid("GptNetwork::logits", "out (B, T, V) = " + shape_text(expected), shape_text(out.shape()));
  }
  pass.forward();
  pass.logits(out.data());
}

double GptNetwork::loss(IdView ids, IdView targets) {
  Pass pass(*this, "GptNetwork::loss", ids);
  pass.set_targets(targets, 1);
  pass.forward();
  return pass.finite_loss(false);
}

double GptNetwork::backward(IdView ids, IdView targets, GptParameters& gradients, const BackwardOptions& options) {
  if (gradients.layout().flat_size() != parameters_.layout().flat_size()) {
    throw_invalid("GptNetwork::backward",
                  "gradients of " + std::to_string(parameters_.layout().parameters()) + " parameters",
                  std::to_string(gradients.layout().parameters()));
  }
  Pass pass(*this, "GptNetwork::backward", ids);
  pass.set_targets(targets, options.scale);
  pass.forward();
  const double loss = pass.finite_loss(true);
  GradientStore store(gradients, options.add);
  pass.backward(store);
  return loss;
}

double GptNetwork::train_step(IdView ids, IdView targets, GptAdamW& optimizer) {
  if (&optimizer.parameters() != &parameters_) {
    throw_invalid("GptNetwork::train_step", "the optimizer of this network's parameters", "another");
  }
  Pass pass(*this, "GptNetwork::train_step", ids);
  pass.set_targets(targets, 1);
  pass.forward();
  const double loss = pass.finite_loss(true, optimizer.steps() + 1);
  pass.backward(optimizer.begin_step());
  optimizer.end_step();
  return loss;
}

}  // namespace firstlayer
