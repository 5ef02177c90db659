// AdamW's step on vectors.

#include "firstlayer/train/network/dense_adamw.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/network/dense_adamw.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::dense_adamw_kernels::HWY_NAMESPACE {

#if HWY_NATIVE_FMA

namespace hn = hwy::HWY_NAMESPACE;

/// Steps of whole vectors from `from` on; where they end.
template <class Tag>
HWY_INLINE std::size_t take_steps(Tag df, const AdamWRule& rule, const AdamWStep& step, const DenseAdamW& job,
                                  std::size_t from, bool& finite) {
  const std::size_t lanes = hn::Lanes(df);
  const auto factor = hn::Set(df, job.factor);
  const auto gain1 = hn::Set(df, rule.gain1);
  const auto gain2 = hn::Set(df, rule.gain2);
  const auto decay2 = hn::Set(df, rule.decay2);
  const auto eps = hn::Set(df, rule.eps);
  const auto rate = hn::Set(df, step.rate);
  const auto decay = hn::Set(df, step.decay);
  const auto divisor = hn::Set(df, step.root2.divisor);
  const auto high = hn::Set(df, step.root2.high);
  const auto low = hn::Set(df, step.root2.low);
  const bool exact = step.root2.found;
  auto all = hn::Zero(df);  // 0 as long as all gradients are finite
  for (; from + lanes <= job.count; from += lanes) {
    auto g = hn::Mul(hn::LoadU(df, job.gradient + from), factor);
    const auto rest = hn::Sub(g, g);
    all = hn::Add(all, rest);
    g = hn::IfThenElseZero(hn::Eq(rest, rest), g);
    const auto old_m = hn::LoadU(df, job.m + from);
    const auto m = hn::MulAdd(gain1, hn::Sub(g, old_m), old_m);
    const auto v = hn::MulAdd(hn::Mul(gain2, g), g, hn::Mul(hn::LoadU(df, job.v + from), decay2));
    auto root = hn::Sqrt(v);
    // The quotient from products is proven for numbers that are not extreme (adamw_step.h).
    if (HWY_LIKELY(exact && hn::AllTrue(df, hn::Lt(v, hn::Set(df, 0x1p80F))))) {
      root = hn::MulAdd(root, high, hn::Mul(root, low));
    } else {
      root = hn::Div(root, divisor);
    }
    const auto update = hn::Div(hn::Mul(rate, m), hn::Add(root, eps));
    hn::StoreU(m, df, job.m + from);
    hn::StoreU(v, df, job.v + from);
    hn::StoreU(hn::Add(hn::Mul(hn::LoadU(df, job.p + from), decay), update), df, job.p + from);
  }
  finite = finite && hn::AllTrue(df, hn::Eq(all, hn::Zero(df)));
  return from;
}

bool take_all(const AdamWRule& rule, const AdamWStep& step, const DenseAdamW& job) {
  bool finite = true;
  const std::size_t whole = take_steps(hn::ScalableTag<float>(), rule, step, job, 0, finite);
  take_steps(hn::CappedTag<float, 1>(), rule, step, job, whole, finite);
  return finite;
}

#else

bool take_all(const AdamWRule& rule, const AdamWStep& step, const DenseAdamW& job) {
  return dense_adamw_reference(rule, step, job);
}

#endif  // HWY_NATIVE_FMA

}  // namespace firstlayer::dense_adamw_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {
namespace dense_adamw_kernels {
HWY_EXPORT(take_all);
}  // namespace dense_adamw_kernels

bool dense_adamw(const AdamWRule& rule, const AdamWStep& step, const DenseAdamW& job) {
  using namespace dense_adamw_kernels;
  return HWY_DYNAMIC_DISPATCH(take_all)(rule, step, job);
}

}  // namespace firstlayer
#endif  // HWY_ONCE
