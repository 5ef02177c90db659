// Keeps gradients that are not finite out of a step. Included by kernels once for each instruction set. Internal to the
// library.

#if defined(FIRSTLAYER_LOOKUP_OPTIMIZER_NON_FINITE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_OPTIMIZER_NON_FINITE_INL_H_
#undef FIRSTLAYER_LOOKUP_OPTIMIZER_NON_FINITE_INL_H_
#else
#define FIRSTLAYER_LOOKUP_OPTIMIZER_NON_FINITE_INL_H_
#endif

#include <cstddef>
#include <limits>

#include "firstlayer/lookup/optimizer/non_finite.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// g, the gradient of columns k ... of a row, with zeros for what is not finite, which is reported.
template <class Tag>
HWY_INLINE hn::Vec<Tag> finite_or_zero(Tag df, NonFinite& non_finite, std::size_t row, std::size_t k, hn::Vec<Tag> g) {
  const auto finite = hn::Lt(hn::Abs(g), hn::Set(df, std::numeric_limits<float>::infinity()));
  if (HWY_LIKELY(hn::AllTrue(df, finite))) return g;
  float lanes[hn::MaxLanes(df)];
  hn::StoreU(hn::IfThenElse(finite, hn::Zero(df), hn::Set(df, 1.0F)), df, lanes);
  std::size_t bad = 0;
  while (lanes[bad] == 0.0F) ++bad;
  non_finite.report(row, k + bad);
  return hn::IfThenElseZero(finite, g);
}

}  // namespace firstlayer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
