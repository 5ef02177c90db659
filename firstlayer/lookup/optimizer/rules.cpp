#include "firstlayer/lookup/optimizer/rules.h"

#include <cmath>

namespace firstlayer {
namespace {

float f32(double value) { return static_cast<float>(value); }

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

Rule sgd_rule(const Sgd& o) {
  if (o.momentum == 0) return SgdRule{f32(o.weight_decay)};
  return MomentumRule{f32(o.momentum), f32(1 - o.dampening), f32(o.weight_decay), o.nesterov};
}

template <class Options>
Rule sparse_adamw_rule(const Options& o) {
  return SparseAdamWRule{f32(1 - o.beta1), f32(1 - o.beta2), f32(o.beta2), f32(o.eps)};
}

/// Where m and v are zero, a step of zero gradient adds rate * 0 / (0 + eps).
template <class Options>
ZeroGradient adam_effect(const Options& o) {
  return o.weight_decay == 0 && f32(o.eps) > 0 ? ZeroGradient::kLeavesFreshRows : ZeroGradient::kMovesRows;
}

/// -lr / (1 - beta1^t), sqrt(1 - beta2^t)
StepScalars adam_scalars(double lr, double beta1, double beta2, double step) {
  const double correction1 = 1 - std::pow(beta1, step);
  const double correction2 = 1 - std::pow(beta2, step);
  return {.rate = f32(-lr / correction1), .correction = f32(std::sqrt(correction2)), .decay = 1, .first = step == 1};
}

}  // namespace

Rule make_rule(const OptimizerOptions& options) {
  return std::visit(
      Overloaded{
          [](const Sgd& o) { return sgd_rule(o); },
          [](const Adagrad& o) -> Rule {
            return AdagradRule{f32(o.weight_decay), f32(o.eps)};
          },
          [](const RowwiseAdagrad& o) -> Rule { return RowwiseAdagradRule{f32(o.eps)}; },
          [](const Adam& o) -> Rule {
            return AdamRule{f32(o.weight_decay), f32(1 - o.beta1), f32(1 - o.beta2), f32(o.beta2), f32(o.eps)};
          },
          [](const AdamW& o) { return sparse_adamw_rule(o); },
          [](const SparseAdam& o) -> Rule {
            return SparseAdamRule{f32(1 - o.beta1), f32(1 - o.beta2), f32(o.eps)};
          },
          [](const SparseAdamW& o) { return sparse_adamw_rule(o); },
      },
      options);
}

StepScalars step_scalars(const OptimizerOptions& options, std::uint64_t step, double lr) {
  const auto t = static_cast<double>(step);
  const StepScalars plain = {.rate = f32(lr), .correction = 1, .decay = 1, .first = step == 1};
  const auto decayed = [&](const auto& o) {
    StepScalars scalars = adam_scalars(lr, o.beta1, o.beta2, t);
    scalars.decay = f32(1 - lr * o.weight_decay);
    return scalars;
  };
  return std::visit(Overloaded{
                        [&](const Sgd&) { return plain; },
                        [&](const Adagrad& o) {
                          StepScalars scalars = plain;
                          scalars.rate = f32(lr / (1 + (t - 1) * o.lr_decay));
                          return scalars;
                        },
                        [&](const RowwiseAdagrad&) { return plain; },
                        [&](const Adam& o) { return adam_scalars(lr, o.beta1, o.beta2, t); },
                        [&](const AdamW& o) { return decayed(o); },
                        [&](const SparseAdamW& o) { return decayed(o); },
                        [&](const SparseAdam& o) {
                          StepScalars scalars = plain;
                          const double correction2 = 1 - std::pow(o.beta2, t);
                          scalars.rate = f32(-(lr * std::sqrt(correction2) / (1 - std::pow(o.beta1, t))));
                          return scalars;
                        },
                    },
                    options);
}

ZeroGradient zero_gradient_effect(const OptimizerOptions& options) {
  return std::visit(
      Overloaded{
          [](const Sgd& o) {
            if (o.weight_decay != 0) return ZeroGradient::kMovesRows;
            return o.momentum != 0 ? ZeroGradient::kLeavesFreshRows : ZeroGradient::kNothing;
          },
          [](const Adagrad& o) { return o.weight_decay != 0 ? ZeroGradient::kMovesRows : ZeroGradient::kNothing; },
          [](const Adam& o) { return adam_effect(o); },
          [](const AdamW& o) { return adam_effect(o); },
          [](const auto&) { return ZeroGradient::kNothing; },
      },
      options);
}

}  // namespace firstlayer
