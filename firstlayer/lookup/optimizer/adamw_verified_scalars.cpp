#include "firstlayer/lookup/optimizer/adamw_verified_scalars.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace firstlayer::adamw_kernels {
namespace {

/// Whether relative errors bound what roundings do; see VerifiedScalars. root2 grows from step to step.
bool within_range(const AdamWRule& rule, std::span<const AdamWStep> steps) {
  return rule.eps >= 0x1p-34F && steps.front().root2.divisor >= 0x1p-12F;
}

}  // namespace

InertBound::InertBound(const AdamWRule& rule, std::span<const AdamWStep> steps) {
  double rate = 0;
  double kept = 1;
  bool shrinking = true;
  for (const AdamWStep& step : steps) {
    rate = std::max(rate, std::fabs(static_cast<double>(step.rate)));
    kept *= step.decay;
    shrinking = shrinking && step.decay > 0 && step.decay <= 1;
  }
  const double exact = rate * 1.05 * 0x1p26 / kept;
  usable = within_range(rule, steps) && shrinking && kept > 0x1p-30 && exact < 0x1p60;
  factor = usable ? static_cast<float>(exact) : 0;
}

VerifiedScalars::VerifiedScalars(const AdamWRule& rule, std::span<const AdamWStep> block)
    : steps(block), middle(block.size() / 2), inert(rule, block) {
  const double root2 = steps[middle - 1].root2.divisor;
  double most = 0;
  for (std::size_t j = 0; j < steps.size(); ++j) {
    const bool later = j + 1 > middle;
    const double power = rule.root_power[later ? j + 1 - middle : middle - j - 1];
    const double off = 1 - root2 * (later ? power : 1 / power) / steps[j].root2.divisor;
    a[j] = static_cast<float>(off);
    tail[j] = static_cast<float>(off / (1 - off));
    most = std::max(most, std::fabs(off));
  }
  const double error = (12.6 + 0.25 * static_cast<double>(steps.size())) * 0x1p-24 + 0.17 * most * most * most;
  for (std::size_t j = 0; j < steps.size(); ++j) {
    low[j] = static_cast<float>(steps[j].rate * (1 - error));
    high[j] = static_cast<float>(steps[j].rate * (1 + error));
  }
  inverse_root2 = static_cast<float>(1 / root2);
  usable = inert.usable && most < 0.015;
}

}  // namespace firstlayer::adamw_kernels
