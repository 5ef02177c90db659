// AdamW's steps without a gradient, each operation rounded as the formula rounds it. Included by kernels once for each
// instruction set with fused multiply-add. Internal to the library.

#if defined(FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_EXACT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_EXACT_INL_H_
#undef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_EXACT_INL_H_
#else
#define FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_EXACT_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/lookup/optimizer/adamw_row_fetcher.h"
#include "firstlayer/lookup/optimizer/adamw_step.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::adamw_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using FloatVec = hn::Vec<Floats>;

HWY_INLINE FloatVec constant(float value) { return hn::Set(Floats(), value); }

/// Whole vectors of one row, and never more than a block's list can name.
struct Chunk {
  static constexpr std::size_t kVectors = 64;

  float* p;
  float* m;
  float* v;
  std::size_t vectors;
};

struct State {
  // Written out: GCC compiles implicit ones for another processor than Highway names, and then refuses to inline them.
  HWY_INLINE State() {}
  HWY_INLINE State(FloatVec p_, FloatVec m_, FloatVec v_) : p(p_), m(m_), v(v_) {}

  FloatVec p;
  FloatVec m;
  FloatVec v;
};

HWY_INLINE State load(const Chunk& chunk, std::size_t vector) {
  const Floats df;
  const std::size_t k = vector * hn::Lanes(df);
  return {hn::LoadU(df, chunk.p + k), hn::LoadU(df, chunk.m + k), hn::LoadU(df, chunk.v + k)};
}

HWY_INLINE void store(const State& state, const Chunk& chunk, std::size_t vector) {
  const Floats df;
  const std::size_t k = vector * hn::Lanes(df);
  hn::StoreU(state.p, df, chunk.p + k);
  hn::StoreU(state.m, df, chunk.m + k);
  hn::StoreU(state.v, df, chunk.v + k);
}

/// p * decay + (rate * m) / (root / root2 + eps), where root = sqrt(V).
template <bool kDecay, bool kDivide>
HWY_INLINE FloatVec next_parameter(FloatVec p, FloatVec m, FloatVec root, FloatVec eps, const AdamWStep& step) {
  const FloatVec scaled = kDivide
                              ? hn::Div(root, constant(step.root2.divisor))
                              : hn::MulAdd(root, constant(step.root2.high), hn::Mul(root, constant(step.root2.low)));
  const FloatVec update = hn::Div(hn::Mul(m, constant(step.rate)), hn::Add(scaled, eps));
  return hn::Add(kDecay ? hn::Mul(p, constant(step.decay)) : p, update);
}

/// Operation for operation. With kDivide for any numbers; without it V must be finite.
template <bool kDecay, bool kDivide>
HWY_INLINE void plain_steps(const AdamWRule& rule, std::span<const AdamWStep> steps, State& state) {
  const FloatVec gain1 = constant(rule.gain1);
  const FloatVec decay2 = constant(rule.decay2);
  const FloatVec eps = constant(rule.eps);
  for (const AdamWStep& step : steps) {
    state.m = hn::NegMulAdd(gain1, state.m, state.m);
    state.v = hn::Mul(state.v, decay2);
    const FloatVec root = hn::Sqrt(state.v);
    if (kDivide || HWY_UNLIKELY(!step.root2.found)) {
      state.p = next_parameter<kDecay, true>(state.p, state.m, root, eps, step);
    } else {
      state.p = next_parameter<kDecay, false>(state.p, state.m, root, eps, step);
    }
  }
}

template <bool kDecay, bool kDivide>
HWY_NOINLINE void plain_vector(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                               std::size_t vector) {
  State state = load(chunk, vector);
  plain_steps<kDecay, kDivide>(rule, steps, state);
  store(state, chunk, vector);
}

/// Square roots of V as it shrinks, from multiplications, with proof.
///
/// With z near sqrt(V) and r = V - z^2, sqrt(V) = z + r / (sqrt(V) + z). The factors 1 / (sqrt(V) + z) lie between
/// `low` and `high`, so one of z + r * low and z + r * high is not above the root and the other is not below. Rounding
/// is monotone: where both give the same float, so does the root.
///
/// z is the first root times shrink[j], the factor half the first root's inverse times grow[j]. Their error is some
/// roundings and the drift of V, which each step rounds: below (7.5 + j / 4) 2^-24 < 2^-20. The ends are 2^-19 away.
class ShrinkingRoot {
 public:
  /// Smaller numbers have remainders that are no floats.
  static constexpr float kLeast = 0x1p-76F;
  /// For V to stay above what the remainder needs, and close enough to its power law.
  static constexpr float kLeastDecay = 0.9F;

  ShrinkingRoot() = default;
  HWY_INLINE explicit ShrinkingRoot(FloatVec v)
      : first_(hn::Sqrt(v)), differ_(hn::Zero(Floats())), large_(hn::AllTrue(Floats(), hn::Ge(v, constant(kLeast)))) {
    const FloatVec inverse = hn::Div(constant(1.0F), first_);
    low_ = hn::Mul(inverse, constant(0.5F * (1 - 0x1p-19F)));
    high_ = hn::Mul(inverse, constant(0.5F * (1 + 0x1p-19F)));
  }

  /// The root of v, which has been multiplied j times.
  HWY_INLINE FloatVec root(FloatVec v, FloatVec shrink, FloatVec grow) {
    const FloatVec z = hn::Mul(first_, shrink);
    const FloatVec rest = hn::Mul(hn::NegMulAdd(z, z, v), grow);
    const FloatVec root = hn::MulAdd(rest, low_, z);
    differ_ = hn::Or(differ_, hn::Xor(root, hn::MulAdd(rest, high_, z)));
    return root;
  }

  /// Whether all roots so far are proven.
  HWY_INLINE bool proven() const {
    const hn::RebindToUnsigned<Floats> du;
    return large_ && hn::AllTrue(du, hn::Eq(hn::BitCast(du, differ_), hn::Zero(du)));
  }

 private:
  FloatVec first_;
  FloatVec low_;
  FloatVec high_;
  FloatVec differ_;
  bool large_;
};

/// Four vectors at once: kDivided take their square roots from the divider, the others from the multipliers, which
/// keeps both busy.
template <bool kDecay, std::size_t kDivided>
void four_vectors(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                  const std::uint8_t* which, RowFetcher& fetcher) {
  constexpr std::size_t kAll = 4;
  State state[kAll];
  for (std::size_t i = 0; i < kAll; ++i) state[i] = load(chunk, which[i]);
  ShrinkingRoot shrinking[kAll - kDivided];
  for (std::size_t i = kDivided; i < kAll; ++i) shrinking[i - kDivided] = ShrinkingRoot(state[i].v);
  const FloatVec gain1 = constant(rule.gain1);
  const FloatVec decay2 = constant(rule.decay2);
  const FloatVec eps = constant(rule.eps);
  for (std::size_t j = 0; j < steps.size(); ++j) {
    const AdamWStep& step = steps[j];
    fetcher.some();
    FloatVec root[kAll];
    for (State& one : state) {
      one.m = hn::NegMulAdd(gain1, one.m, one.m);
      one.v = hn::Mul(one.v, decay2);
    }
    for (std::size_t i = 0; i < kDivided; ++i) root[i] = hn::Sqrt(state[i].v);
    for (std::size_t i = kDivided; i < kAll; ++i) {
      root[i] = shrinking[i - kDivided].root(state[i].v, constant(rule.shrink[j + 1]), constant(rule.grow[j + 1]));
    }
    for (std::size_t i = kAll; i-- > 0;) {
      state[i].p = next_parameter<kDecay, false>(state[i].p, state[i].m, root[i], eps, step);
    }
  }
  for (std::size_t i = 0; i < kAll; ++i) {
    if (i < kDivided || HWY_LIKELY(shrinking[i - kDivided].proven())) {
      store(state[i], chunk, which[i]);
    } else {
      plain_vector<kDecay, false>(rule, steps, chunk, which[i]);
    }
  }
}

/// Steps on the `count` vectors of a chunk that `which` names. V must be finite.
template <bool kDecay>
HWY_INLINE void exact_steps(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                            const std::uint8_t* which, std::size_t count, RowFetcher& fetcher) {
  for (; count > 0 && !steps.empty(); steps = steps.subspan(std::min(AdamWRule::kBlock, steps.size()))) {
    const auto block = steps.first(std::min(AdamWRule::kBlock, steps.size()));
    const bool four = block.size() > 2 && rule.decay2 >= ShrinkingRoot::kLeastDecay &&
                      std::all_of(block.begin(), block.end(), [](const AdamWStep& step) { return step.root2.found; });
    std::size_t i = 0;
    if (four) {
      const auto take = rule.divider_is_slow ? four_vectors<kDecay, 0> : four_vectors<kDecay, 2>;
      for (; i + 4 <= count; i += 4) take(rule, block, chunk, which + i, fetcher);
    }
    for (; i < count; ++i) {
      fetcher.some((block.size() + 3) / 4);
      plain_vector<kDecay, false>(rule, block, chunk, which[i]);
    }
  }
}

}  // namespace firstlayer::adamw_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
