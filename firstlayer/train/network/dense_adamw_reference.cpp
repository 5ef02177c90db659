#include <cmath>

#include "firstlayer/train/network/dense_adamw.h"

namespace firstlayer {

bool dense_adamw_reference(const AdamWRule& rule, const AdamWStep& step, const DenseAdamW& job) {
  bool finite = true;
  for (std::size_t i = 0; i < job.count; ++i) {
    float g = job.gradient[i] * job.factor;
    if (!std::isfinite(g)) {
      finite = false;
      g = 0;
    }
    job.m[i] = std::fma(rule.gain1, g - job.m[i], job.m[i]);
    job.v[i] = std::fma(rule.gain2 * g, g, job.v[i] * rule.decay2);
    job.p[i] = job.p[i] * step.decay + (step.rate * job.m[i]) / (std::sqrt(job.v[i]) / step.root2.divisor + rule.eps);
  }
  return finite;
}

}  // namespace firstlayer
