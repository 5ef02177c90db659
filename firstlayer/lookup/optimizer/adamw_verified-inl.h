// AdamW's steps without a gradient on rows whose updates have become small, so that an approximation of them gives the
// parameters and proves that it does, or cannot move them at all. Included by kernels once for each instruction set
// with fused multiply-add. Internal to the library.

#if defined(FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_VERIFIED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_VERIFIED_INL_H_
#undef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_VERIFIED_INL_H_
#else
#define FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_VERIFIED_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/lookup/optimizer/adamw_exact-inl.h"
#include "firstlayer/lookup/optimizer/adamw_step.h"
#include "firstlayer/lookup/optimizer/adamw_verified_scalars.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::adamw_kernels::HWY_NAMESPACE {

/// What steps that cannot move the parameters leave to do, on kCount vectors from number `first` on.
template <bool kDecay, std::size_t kCount>
HWY_INLINE void inert_vectors(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                              std::size_t first) {
  const FloatVec gain1 = constant(rule.gain1);
  const FloatVec decay2 = constant(rule.decay2);
  State state[kCount];
  for (std::size_t i = 0; i < kCount; ++i) state[i] = load(chunk, first + i);
  for (const AdamWStep& step : steps) {
    for (State& each : state) {
      each.m = hn::NegMulAdd(gain1, each.m, each.m);
      each.v = hn::Mul(each.v, decay2);
      if (kDecay) each.p = hn::Mul(each.p, constant(step.decay));
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) store(state[i], chunk, first + i);
}

template <bool kDecay>
HWY_INLINE void inert_steps(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk) {
  std::size_t i = 0;
  for (; i + 4 <= chunk.vectors; i += 4) inert_vectors<kDecay, 4>(rule, steps, chunk, i);
  for (; i < chunk.vectors; ++i) inert_vectors<kDecay, 1>(rule, steps, chunk, i);
}

/// Whether none of the steps can move any parameter of the chunk. |M| only shrinks; the denominator is at least
/// sqrt(V) at the end, as root2 is at most 1, plus eps.
HWY_INLINE bool all_inert(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk) {
  const Floats df;
  const InertBound bound(rule, steps);
  if (!bound.usable) return false;
  const auto shrink = static_cast<float>(0.99 * std::pow(rule.decay2, 0.5 * static_cast<double>(steps.size())));
  for (std::size_t i = 0; i < chunk.vectors; ++i) {
    const State state = load(chunk, i);
    const FloatVec p = hn::Abs(state.p);
    const FloatVec denominator = hn::MulAdd(hn::Sqrt(state.v), constant(shrink), constant(rule.eps));
    const auto inert = hn::Lt(hn::Mul(hn::Abs(state.m), constant(bound.factor)), hn::Mul(p, denominator));
    if (!hn::AllTrue(df, hn::And(inert, hn::Ge(p, constant(InertBound::kLeast))))) return false;
  }
  return true;
}

/// How the vectors of a verified block fared.
struct Verified {
  std::size_t inert = 0;                    ///< vectors that the block could not move
  std::size_t undone = 0;                   ///< vectors that are as they were,
  std::uint8_t which[Chunk::kVectors + 2];  ///< and their numbers
};

/// The steps of `block` on kCount vectors from number `first` on; those that cannot be proven stay as they are.
template <bool kDecay, std::size_t kCount>
HWY_INLINE void verify_vectors(const AdamWRule& rule, const VerifiedScalars& block, const Chunk& chunk,
                               std::size_t first, Verified& result) {
  const Floats df;
  const FloatVec gain1 = constant(rule.gain1);
  const FloatVec decay2 = constant(rule.decay2);
  const FloatVec eps = constant(rule.eps);
  const FloatVec one = constant(1.0F);
  const std::span<const AdamWStep> steps = block.steps;
  State state[kCount];
  FloatVec w[kCount];  // 1 / (sqrt(V) / root2 + eps) in the middle
  for (std::size_t i = 0; i < kCount; ++i) state[i] = load(chunk, first + i);
  for (std::size_t j = 0; j < block.middle; ++j) {
    for (State& each : state) each.v = hn::Mul(each.v, decay2);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    w[i] = hn::Div(one, hn::MulAdd(hn::Sqrt(state[i].v), constant(block.inverse_root2), eps));
  }
  for (std::size_t j = block.middle; j < steps.size(); ++j) {
    for (State& each : state) each.v = hn::Mul(each.v, decay2);
  }

  bool large = true;
  bool inert = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    const FloatVec p = hn::Abs(state[i].p);
    large = large && hn::AllTrue(df, hn::Ge(p, constant(InertBound::kLeast)));
    const FloatVec reach = hn::Mul(hn::Mul(hn::Abs(state[i].m), w[i]), constant(block.inert.factor));
    inert = inert && hn::AllTrue(df, hn::Lt(reach, p));
  }
  if (large && inert) {
    result.inert += kCount;
    for (const AdamWStep& step : steps) {
      for (State& each : state) {
        each.m = hn::NegMulAdd(gain1, each.m, each.m);
        if (kDecay) each.p = hn::Mul(each.p, constant(step.decay));
      }
    }
    for (std::size_t i = 0; i < kCount; ++i) store(state[i], chunk, first + i);
    return;
  }

  FloatVec linear[kCount];
  FloatVec square[kCount];
  FloatVec differ[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    const FloatVec y = hn::NegMulAdd(eps, w[i], one);
    linear[i] = hn::Mul(w[i], y);
    square[i] = hn::Mul(linear[i], y);
    differ[i] = hn::Zero(df);
  }
  for (std::size_t j = 0; j < steps.size(); ++j) {
    const FloatVec a = constant(block.a[j]);
    const FloatVec tail = constant(block.tail[j]);
    for (std::size_t i = 0; i < kCount; ++i) {
      State& each = state[i];
      each.m = hn::NegMulAdd(gain1, each.m, each.m);
      const FloatVec update = hn::Mul(each.m, hn::MulAdd(a, hn::MulAdd(tail, square[i], linear[i]), w[i]));
      const FloatVec kept = kDecay ? hn::Mul(each.p, constant(steps[j].decay)) : each.p;
      each.p = hn::MulAdd(update, constant(block.low[j]), kept);
      differ[i] = hn::Or(differ[i], hn::Xor(each.p, hn::MulAdd(update, constant(block.high[j]), kept)));
    }
  }
  const hn::RebindToUnsigned<Floats> du;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (large && hn::AllTrue(du, hn::Eq(hn::BitCast(du, differ[i]), hn::Zero(du)))) {
      store(state[i], chunk, first + i);
    } else {
      result.which[result.undone++] = static_cast<std::uint8_t>(first + i);
    }
  }
}

/// The steps of `block` on a chunk; returns how many vectors they could not move.
template <bool kDecay>
HWY_INLINE std::size_t verified_block(const AdamWRule& rule, const VerifiedScalars& block, const Chunk& chunk,
                                      RowFetcher& fetcher) {
  Verified result;
  std::size_t i = 0;
  for (; i + 2 <= chunk.vectors; i += 2) {
    fetcher.some((block.steps.size() + 1) / 2);
    verify_vectors<kDecay, 2>(rule, block, chunk, i, result);
  }
  for (; i < chunk.vectors; ++i) verify_vectors<kDecay, 1>(rule, block, chunk, i, result);
  if (result.undone > 0) exact_block<kDecay>(rule, block.steps, chunk, result.which, result.undone, fetcher);
  return result.inert;
}

}  // namespace firstlayer::adamw_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
