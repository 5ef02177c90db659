// e^x on vectors. Included by kernels once for each instruction set. Internal to the library.

#if defined(FIRSTLAYER_TRAIN_NETWORK_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_TRAIN_NETWORK_EXP_INL_H_
#undef FIRSTLAYER_TRAIN_NETWORK_EXP_INL_H_
#else
#define FIRSTLAYER_TRAIN_NETWORK_EXP_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::vector_math::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Within 2.5e-7 of e^x for x in [-87.3, 88]; below it stays at about 1e-38, above it is meaningless, and NaN is NaN.
/// x = n ln 2 + r, so e^x = 2^n e^r: n is rounded by adding 1.5 * 2^23, whose low bits it then is; e^r, |r| < 0.35, is
/// a minimax polynomial of degree 5; 2^n goes into the exponent.
template <class Tag>
HWY_INLINE hn::Vec<Tag> exp_of(Tag df, hn::Vec<Tag> x) {
  const hn::RebindToSigned<Tag> di;
  const auto constant = [&](float value) HWY_ATTR { return hn::Set(df, value); };
  x = hn::IfThenElse(hn::Lt(x, constant(-87.3F)), constant(-87.3F), x);  // Max() may lose a NaN
  const auto shifted = hn::MulAdd(x, constant(1.44269504F), constant(12582912.0F));
  const auto n = hn::Sub(shifted, constant(12582912.0F));
  auto r = hn::NegMulAdd(n, constant(0.693359375F), x);  // exact: ln 2 in two parts, the first of few bits
  r = hn::NegMulAdd(n, constant(-2.12194440e-4F), r);
  auto power = hn::MulAdd(constant(0.0082903150F), r, constant(0.0418979302F));
  power = hn::MulAdd(power, r, constant(0.1666763574F));
  power = hn::MulAdd(power, r, constant(0.4999915063F));
  power = hn::MulAdd(power, r, constant(0.9999997616F));
  power = hn::MulAdd(power, r, constant(1.0F));
  return hn::BitCast(df, hn::Add(hn::BitCast(di, power), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

}  // namespace firstlayer::vector_math::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
