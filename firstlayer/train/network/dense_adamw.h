#pragma once
// AdamW's step on numbers that all have a gradient. Internal to the library; the formula, with every rounding in it, is
// that of lookup/optimizer/adamw_step.h.

#include <cstddef>

#include "firstlayer/lookup/optimizer/adamw_step.h"

namespace firstlayer {

struct DenseAdamW {
  float* p;
  float* m;
  float* v;
  const float* gradient;
  std::size_t count;
  float factor = 1;  ///< that the gradient is multiplied by first
};

/// Takes a step, with the bits of the reference. A product that is not finite counts as 0, and then the result is
/// false.
bool dense_adamw(const AdamWRule& rule, const AdamWStep& step, const DenseAdamW& job);
bool dense_adamw_reference(const AdamWRule& rule, const AdamWStep& step, const DenseAdamW& job);

}  // namespace firstlayer
