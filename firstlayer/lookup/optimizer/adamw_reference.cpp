// One step, plainly: what every other way of taking it must equal.

#include <cmath>
#include <cstddef>

#include "firstlayer/lookup/optimizer/adamw_kernels.h"

namespace firstlayer::adamw_kernels {

void step_reference(const AdamWRule& rule, const AdamWStep& step, float* p, float* m, float* v, const float* gradient,
                    std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient == nullptr ? 0.0F : gradient[i];
    m[i] = std::fma(rule.gain1, g - m[i], m[i]);
    v[i] = std::fma(rule.gain2 * g, g, v[i] * rule.decay2);
    p[i] = p[i] * step.decay + (step.rate * m[i]) / (std::sqrt(v[i]) / step.root2.divisor + rule.eps);
  }
}

}  // namespace firstlayer::adamw_kernels
