#pragma once
// When steps without a gradient cannot move a parameter but by its decay. Internal to the library.

#include <span>

#include "firstlayer/lookup/optimizer/adamw_step.h"

namespace firstlayer::adamw_kernels {

/// An update u with |u| < 2^-26 |P d| is less than half the gap below any number: P d + u is rounded to P d.
///
/// Over some steps |M| only shrinks, so |u| <= max |rate| * |M| / (sqrt(V) / root2 + eps) with the first |M| and the
/// last V. With root2 <= 1 that is at most max |rate| * |M| / (shrink * sqrt(V) + eps) with the first V, where shrink
/// is a little below decay2^(steps / 2). And |P d| >= |P| * (product of decays). So nothing moves if
///   factor * |M| < |P| * (shrink * sqrt(V) + eps).
/// Roundings are covered by 5 % in factor and 1 % in shrink: each step rounds P and V once, 4,096 steps by 2^-12. Where
/// rate * M is no normal number, it is off by 2^-150 and u by 2^-116, as eps >= 2^-34; 2^-26 |P d| is above 2^-106, as
/// |P| >= 2^-60 and the product of decays > 2^-20. Where V is none, eps is nearly all of the denominator.
struct InertBound {
  /// The least |P|.
  static constexpr float kLeast = 0x1p-60F;

  /// For some steps, at most 4,096.
  InertBound(const AdamWRule& rule, std::span<const AdamWStep> steps);

  float factor;
  float shrink;
  bool usable;  ///< or else nothing can be said
};

}  // namespace firstlayer::adamw_kernels
