#pragma once
// AdamW's scalars, rounded as torch.optim.AdamW(fused=True) rounds them. Internal to the library.
//
//   M = fma(f32(1 - beta1), g - M, M)
//   V = fma(f32(1 - beta2) * g, g, V * f32(beta2))
//   P = P * f32(1 - lr * weight_decay) + (f32(-lr / (1 - beta1^t)) * M) / (sqrt(V) / f32(sqrt(1 - beta2^t)) + f32(eps))

#include <cstdint>

#include "firstlayer/lookup/optimizer/options.h"

namespace firstlayer {

/// What is the same in every step.
struct AdamWRule {
  explicit AdamWRule(const AdamW& options);

  double beta1;
  double beta2;
  double weight_decay;
  float gain1;   ///< f32(1 - beta1)
  float gain2;   ///< f32(1 - beta2)
  float decay2;  ///< f32(beta2)
  float eps;
};

/// Division by one number d on multiplications: RN(x / d) == fma(x, high, RN(x * low)) for every float x >= 0 whose
/// quotient is a normal number and not too large.
struct ExactQuotient {
  /// Finds high and low, and proves them; see the source.
  explicit ExactQuotient(float divisor);

  float divisor;
  float high;
  float low;
  bool found;  ///< or else one has to divide
};

/// What differs from step to step.
struct AdamWStep {
  /// Step t, counted from 1.
  AdamWStep(const AdamWRule& rule, double lr, std::uint64_t t);

  float rate;           ///< f32(-lr / (1 - beta1^t))
  float decay;          ///< f32(1 - lr * weight_decay)
  ExactQuotient root2;  ///< division by f32(sqrt(1 - beta2^t))
};

}  // namespace firstlayer
