#pragma once
// AdamW's scalars, rounded as torch.optim.AdamW(fused=True) rounds them. Internal to the library.
//
//   M = fma(f32(1 - beta1), g - M, M)
//   V = fma(f32(1 - beta2) * g, g, V * f32(beta2))
//   P = P * f32(1 - lr * weight_decay) + (f32(-lr / (1 - beta1^t)) * M) / (sqrt(V) / f32(sqrt(1 - beta2^t)) + f32(eps))

#include <array>
#include <cstddef>
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

  /// Whether catching up takes all square roots from products or leaves half of them to the divider, which changes no
  /// bit.
  bool divider_is_slow;

  /// The most steps that are taken at once without looking at what became of V.
  static constexpr std::size_t kBlock = 32;
  /// Powers of sqrt(decay2), by which sqrt(V) shrinks in a step: shrink[j] to the j, grow[j] to the -j.
  std::array<float, kBlock + 1> shrink;
  std::array<float, kBlock + 1> grow;
};

/// Division by one number d on multiplications: RN(x / d) == fma(x, high, RN(x * low)) for every float x >= 0 whose
/// quotient and x * low are normal numbers, and for x = 0.
struct ExactQuotient {
  /// Finds high and low, and proves them; see the source.
  explicit ExactQuotient(float d);

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
