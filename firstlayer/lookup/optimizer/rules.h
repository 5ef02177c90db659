#pragma once
// What one step of an optimizer does to one number of a table, given its gradient g. Internal to the library.
//
// Each formula rounds where PyTorch 2.13's CPU kernels round, of which the fused ones (fused=True) are those whose
// every operation is correctly rounded. f32() is rounding to float; t is the step, from 1; bc1 = 1 - beta1^t and
// bc2 = 1 - beta2^t.

#include <cstddef>
#include <cstdint>
#include <variant>

#include "firstlayer/lookup/optimizer/options.h"

namespace firstlayer {

/// What changes from step to step. A rule reads what its formula names.
struct StepScalars {
  float rate;
  float correction;  ///< sqrt(bc2)
  float decay;       ///< 1 - lr * weight_decay
  bool first;        ///< t is 1
};

/// if (weight_decay) g = fma(p, weight_decay, g);  p = fma(-rate, g, p)                                  rate = lr
struct SgdRule {
  static constexpr std::size_t kStates = 0;
  static constexpr bool kFused = true;
  float weight_decay;
};

/// g as above;  m = first ? g : fma(g, undampened, m * momentum);  g = nesterov ? fma(m, momentum, g) : m
/// p = fma(-rate, g, p)                                                                                  rate = lr
struct MomentumRule {
  static constexpr std::size_t kStates = 1;
  static constexpr bool kFused = true;
  float momentum;
  float undampened;  ///< 1 - dampening
  float weight_decay;
  bool nesterov;
};

/// g as above;  sum = fma(g, g, sum);  p = p - rate * g / (sqrt(sum) + eps)       rate = lr / (1 + (t - 1) * lr_decay)
struct AdagradRule {
  static constexpr std::size_t kStates = 1;
  static constexpr bool kFused = true;
  float weight_decay;
  float eps;
};

/// sum = sum + mean of g * g over the row (one number a row);  p = p - rate / (sqrt(sum) + eps) * g      rate = lr
/// The squares go to kLanes sums, column k to sum k % kLanes, and those are added in halves.
struct RowwiseAdagradRule {
  static constexpr std::size_t kLanes = 64;
  static constexpr bool kFused = false;
  float eps;
};

/// g as above;  m = lerp(m, g, fresh1);  v = fma(fresh2 * g, g, v * keep2)
/// p = p + rate * m / (sqrt(v) / correction + eps)                                                rate = -lr / bc1
/// lerp(m, g, w) = w < 1/2 ? fma(w, g - m, m) : fma(w - 1, g - m, g)
struct AdamRule {
  static constexpr std::size_t kStates = 2;
  static constexpr bool kFused = true;
  float weight_decay;
  float fresh1;  ///< 1 - beta1
  float fresh2;  ///< 1 - beta2
  float keep2;   ///< beta2
  float eps;
};

/// m, v as AdamRule without weight decay;  p = p * decay + rate * m / (sqrt(v) / correction + eps)
struct SparseAdamWRule {
  static constexpr std::size_t kStates = 2;
  static constexpr bool kFused = true;
  float fresh1;
  float fresh2;
  float keep2;
  float eps;
};

/// m = m + (g - m) * fresh1;  v = v + (g * g - v) * fresh2;  p = p + rate * (m / (sqrt(v) + eps))
/// rate = -lr * sqrt(bc2) / bc1; no product is fused with a sum.
struct SparseAdamRule {
  static constexpr std::size_t kStates = 2;
  static constexpr bool kFused = false;
  float fresh1;
  float fresh2;
  float eps;
};

using Rule =
    std::variant<SgdRule, MomentumRule, AdagradRule, RowwiseAdagradRule, AdamRule, SparseAdamWRule, SparseAdamRule>;

/// The rule of these options; AdamW and SparseAdamW share one.
Rule make_rule(const OptimizerOptions& options);

/// The scalars of step `step`.
StepScalars step_scalars(const OptimizerOptions& options, std::uint64_t step, double lr);

/// What a step does to a row whose gradient is zero.
enum class ZeroGradient {
  kNothing,          ///< leaves it, whatever its state
  kLeavesFreshRows,  ///< leaves it as long as its state is zero
  kMovesRows,        ///< moves it
};
ZeroGradient zero_gradient_effect(const OptimizerOptions& options);

}  // namespace firstlayer
