// AdamW's steps without a gradient where the updates cannot move the parameters. Included by kernels once for each
// instruction set with fused multiply-add. Internal to the library.

#if defined(FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_INERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_INERT_INL_H_
#undef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_INERT_INL_H_
#else
#define FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_INERT_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/lookup/optimizer/adamw_exact-inl.h"
#include "firstlayer/lookup/optimizer/adamw_inert.h"
#include "firstlayer/lookup/optimizer/adamw_step.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::adamw_kernels::HWY_NAMESPACE {

/// Whether none of the bound's steps can move any parameter of a vector.
HWY_INLINE bool is_inert(const AdamWRule& rule, const InertBound& bound, const Chunk& chunk, std::size_t vector) {
  const Floats df;
  const State state = load(chunk, vector);
  const FloatVec p = hn::Abs(state.p);
  const FloatVec denominator = hn::MulAdd(hn::Sqrt(state.v), constant(bound.shrink), constant(rule.eps));
  const auto inert = hn::Lt(hn::Mul(hn::Abs(state.m), constant(bound.factor)), hn::Mul(p, denominator));
  return hn::AllTrue(df, hn::And(inert, hn::Ge(p, constant(InertBound::kLeast))));
}

/// What steps that cannot move the parameters leave to do, on kCount vectors.
template <bool kDecay, std::size_t kCount>
HWY_INLINE void inert_vectors(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                              const std::uint8_t* which) {
  const FloatVec gain1 = constant(rule.gain1);
  const FloatVec decay2 = constant(rule.decay2);
  State state[kCount];
  for (std::size_t i = 0; i < kCount; ++i) state[i] = load(chunk, which[i]);
  for (const AdamWStep& step : steps) {
    for (State& each : state) {
      each.m = hn::NegMulAdd(gain1, each.m, each.m);
      each.v = hn::Mul(each.v, decay2);
      if (kDecay) each.p = hn::Mul(each.p, constant(step.decay));
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) store(state[i], chunk, which[i]);
}

/// The same on the `count` vectors that `which` names.
template <bool kDecay>
HWY_INLINE void inert_steps(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                            const std::uint8_t* which, std::size_t count, RowFetcher& fetcher) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    fetcher.some(steps.size());
    inert_vectors<kDecay, 4>(rule, steps, chunk, which + i);
  }
  for (; i < count; ++i) inert_vectors<kDecay, 1>(rule, steps, chunk, which + i);
}

}  // namespace firstlayer::adamw_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
