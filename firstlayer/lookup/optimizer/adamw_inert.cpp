#include "firstlayer/lookup/optimizer/adamw_inert.h"

#include <algorithm>
#include <cmath>

namespace firstlayer::adamw_kernels {

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
  usable = rule.eps >= 0x1p-34F && shrinking && kept > 0x1p-20 && exact < 0x1p60;
  factor = usable ? static_cast<float>(exact) : 0;
  shrink = static_cast<float>(0.99 * std::pow(rule.decay2, 0.5 * static_cast<double>(steps.size())));
}

}  // namespace firstlayer::adamw_kernels
