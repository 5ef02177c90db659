#pragma once
// The scalars by which a block of AdamW's steps without a gradient is approximated and proven. Internal to the library.

#include <cstddef>
#include <span>

#include "firstlayer/lookup/optimizer/adamw_step.h"

namespace firstlayer::adamw_kernels {

/// When an update u cannot move a parameter: |u| < 2^-26 |P d| is less than half the gap below any number, so P d + u
/// is rounded to P d.
///
/// Over some steps |u| <= max |rate| * |M| * w for the first |M| and the largest w = 1 / (sqrt(V) / root2 + eps), and
/// |P d| >= |P| * (product of decays). So nothing moves if factor * |M| * w < |P|.
struct InertBound {
  /// Smaller parameters, times the decays, may be no normal numbers.
  static constexpr float kLeast = 0x1p-60F;

  InertBound(const AdamWRule& rule, std::span<const AdamWStep> steps);

  float factor;  ///< with room for w to grow by 1.5 % and for roundings
  bool usable;   ///< or else nothing can be said
};

/// A block of steps whose updates are approximated by u = rate * M * w with exact M, and w by a square function of the
/// step round the middle of the block. Both ends of the interval that holds the formula's own u are added to P d, each
/// with one rounding. Rounding is monotone: where both give the same float, so does the formula.
///
/// Let x = sqrt(V) / root2 in the middle and w = 1 / (x + eps). At another step of the block it is x (1 - a), with
/// a = 1 - decay2^(distance / 2) * (root2 in the middle / root2 there) but for the roundings of V, and
///   1 / (x (1 - a) + eps) = w / (1 - a y) = w (1 + a y + a^2 y^2 + ...), y = x w = 1 - eps w, 0 <= y <= 1.
/// The tail from the square on is taken as a^2 y^2 / (1 - a), which is off by at most 0.17 |a|^3.
///
/// The formula's u has 5 roundings, w in the middle 4, the evaluation 3 and small change, V drifts by half a rounding
/// a step over half a block, half of which its root has. Together the interval is
///   u (1 +- ((12.6 + n / 4) 2^-24 + 0.17 max |a|^3)).
/// Numbers too small for relative errors do not matter: with eps >= 2^-34, root2 >= 2^-12, |P| >= 2^-60 and no
/// |M| >= 2^60, products below 2^-126 are updates below 2^-26 |P d|, and roots of such V are wrong by less than 2^-27
/// of eps.
class VerifiedScalars {
 public:
  static constexpr std::size_t kMost = 16;

  /// 2 to kMost steps.
  VerifiedScalars(const AdamWRule& rule, std::span<const AdamWStep> block);

  std::span<const AdamWStep> steps;
  std::size_t middle;   ///< steps up to the middle
  float inverse_root2;  ///< 1 / root2 in the middle
  InertBound inert;
  bool usable;
  float a[kMost];
  float tail[kMost];  ///< a / (1 - a)
  float low[kMost];   ///< the ends of the interval round the rate
  float high[kMost];
};

}  // namespace firstlayer::adamw_kernels
