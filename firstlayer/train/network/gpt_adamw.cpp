#include "firstlayer/train/network/gpt_adamw.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/optimizer/adamw_step.h"
#include "firstlayer/lookup/optimizer/non_finite_gradient.h"
#include "firstlayer/lookup/optimizer/option_fields.h"
#include "firstlayer/train/network/dense_adamw.h"
#include "firstlayer/train/network/gradient_sink.h"

namespace firstlayer {
namespace {

/// Numbers that a thread takes at once.
constexpr std::size_t kStretch = std::size_t{1} << 14;

const AdamW& checked(const AdamW& options) {
  check_options(options);
  if (!(options.beta1 > 0.5)) throw_invalid("GptAdamW", "beta1 above 0.5", number_text(options.beta1));
  return options;
}

}  // namespace

/// Moves what it is given the gradient of.
class GptAdamW::Sink : public GradientSink {
 public:
  explicit Sink(GptAdamW& optimizer) : optimizer_(optimizer) {}

  void begin(float factor) {
    factor_ = factor;
    const AdamWRule rule(optimizer_.options_);
    const AdamWStep step(rule, optimizer_.options_.lr, optimizer_.steps_);
    rule_.emplace(rule);
    decaying_.emplace(step);
    plain_.emplace(step);
    plain_->decay = 1.0F;
  }

  void take(std::size_t tensor, std::size_t offset, std::span<const float> numbers) override {
    if (optimizer_.frozen_[tensor]) return;
    const GptTensor& place = optimizer_.parameters_.layout().tensors()[tensor];
    const std::size_t at = place.offset + offset;
    const DenseAdamW job{optimizer_.parameters_.flat().data() + at,
                         optimizer_.first_.flat().data() + at,
                         optimizer_.second_.flat().data() + at,
                         numbers.data(),
                         numbers.size(),
                         factor_};
    if (dense_adamw(*rule_, place.is_matrix ? *decaying_ : *plain_, job)) return;
    const auto bad = std::ranges::find_if(numbers, [&](float g) { return !std::isfinite(g * factor_); });
    report(at + static_cast<std::size_t>(bad - numbers.begin()));
  }

  /// The first place in flat() with a gradient that is not finite, or kNone.
  std::size_t first_bad() { return first_bad_.exchange(kNone); }

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

 private:
  void report(std::size_t place) {
    std::size_t first = first_bad_;
    while (place < first && !first_bad_.compare_exchange_weak(first, place)) {
    }
  }

  GptAdamW& optimizer_;
  std::optional<AdamWRule> rule_;
  std::optional<AdamWStep> decaying_;
  std::optional<AdamWStep> plain_;
  float factor_ = 1;
  std::atomic<std::size_t> first_bad_ = kNone;
};

GptAdamW::GptAdamW(GptParameters& parameters, const AdamW& options)
    : parameters_(parameters),
      options_(checked(options)),
      first_(parameters.config()),
      second_(parameters.config()),
      frozen_(parameters.layout().tensors().size()),
      sink_(std::make_unique<Sink>(*this)) {}

GptAdamW::~GptAdamW() = default;

void GptAdamW::set_learning_rate(double lr) {
  AdamW options = options_;
  options.lr = lr;
  options_ = checked(options);
}

void GptAdamW::set_frozen(std::string_view name, bool frozen) {
  const std::optional<std::size_t> tensor = parameters_.layout().find(name);
  if (!tensor) throw_invalid("GptAdamW::set_frozen", "the name of a tensor", "\"" + std::string(name) + "\"");
  frozen_[*tensor] = frozen;
}

std::vector<std::string> GptAdamW::frozen() const {
  std::vector<std::string> names;
  for (std::size_t tensor = 0; tensor < frozen_.size(); ++tensor) {
    if (frozen_[tensor]) names.push_back(parameters_.layout().tensors()[tensor].name);
  }
  return names;
}

GradientSink& GptAdamW::begin_step(float factor) {
  ++steps_;
  sink_->begin(factor);
  return *sink_;
}

void GptAdamW::end_step() {
  const std::size_t bad = sink_->first_bad();
  if (bad == Sink::kNone) return;
  const std::span<const GptTensor> tensors = parameters_.layout().tensors();
  const auto after = std::ranges::upper_bound(tensors, bad, {}, &GptTensor::offset);
  const GptTensor& tensor = *(after - 1);
  const std::size_t width = tensor.shape.back();
  const std::size_t row = (bad - tensor.offset) / width;
  const std::size_t column = (bad - tensor.offset) % width;
  throw NonFiniteGradient(
      mismatch_message("GptAdamW::step", "a finite gradient",
                       "inf or NaN for " + tensor.name + ", row " + std::to_string(row) + ", column " +
                           std::to_string(column) + ", at step " + std::to_string(steps_) +
                           "; the step was taken with zeros in place of numbers that are not finite"),
      row, column);
}

void GptAdamW::step(const GptParameters& gradients, unsigned threads, float factor) {
  if (gradients.layout().flat_size() != parameters_.layout().flat_size()) {
    throw_invalid("GptAdamW::step", "gradients of " + std::to_string(parameters_.layout().parameters()) + " parameters",
                  std::to_string(gradients.layout().parameters()));
  }
  GradientSink& sink = begin_step(factor);
  for (std::size_t tensor = 0; tensor < gradients.layout().tensors().size(); ++tensor) {
    const std::span<const float> numbers = gradients[tensor];
    const std::size_t stretches = (numbers.size() + kStretch - 1) / kStretch;
    parallel_for(stretches, threads, [&](std::size_t begin, std::size_t end) {
      const std::size_t from = begin * kStretch;
      sink.take(tensor, from, numbers.subspan(from, std::min(numbers.size(), end * kStretch) - from));
    });
  }
  end_step();
}

}  // namespace firstlayer
