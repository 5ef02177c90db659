// Which way a row takes the steps it missed. Included by kernels once for each instruction set with fused multiply-add.
// Internal to the library.

#if defined(FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_CATCH_UP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_CATCH_UP_INL_H_
#undef FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_CATCH_UP_INL_H_
#else
#define FIRSTLAYER_LOOKUP_OPTIMIZER_ADAMW_CATCH_UP_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/lookup/optimizer/adamw_exact-inl.h"
#include "firstlayer/lookup/optimizer/adamw_kernels.h"
#include "firstlayer/lookup/optimizer/adamw_verified-inl.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::adamw_kernels::HWY_NAMESPACE {

/// On a row whose moments are +0: rate * 0 / (0 + eps) is -0, and P d - 0 is P d.
template <std::size_t kCount>
HWY_INLINE void untouched_vectors(std::span<const AdamWStep> steps, const Chunk& chunk, std::size_t first) {
  const Floats df;
  const std::size_t lanes = hn::Lanes(df);
  FloatVec p[kCount];
  for (std::size_t i = 0; i < kCount; ++i) p[i] = hn::LoadU(df, chunk.p + (first + i) * lanes);
  for (const AdamWStep& step : steps) {
    for (FloatVec& each : p) each = hn::Mul(each, constant(step.decay));
  }
  for (std::size_t i = 0; i < kCount; ++i) hn::StoreU(p[i], df, chunk.p + (first + i) * lanes);
}

HWY_INLINE void untouched_steps(std::span<const AdamWStep> steps, const Chunk& chunk) {
  std::size_t i = 0;
  for (; i + 4 <= chunk.vectors; i += 4) untouched_vectors<4>(steps, chunk, i);
  for (; i < chunk.vectors; ++i) untouched_vectors<1>(steps, chunk, i);
}

/// How many lanes of a vector a verified block of 8 steps from `first` on would leave unproven, from three vectors of
/// the chunk: an interval of +-14.6 2^-24 |u| holds a boundary in |u| / ulp(P) of so many cases, and u shrinks by
/// beta1 in a step. It chooses the way, not the result.
HWY_INLINE float unproven_lanes(const AdamWRule& rule, const AdamWStep& first, const Chunk& chunk) {
  constexpr std::size_t kSamples = 3;
  constexpr float kStepsWorth = 5.7F;  // 1 + 0.9 + ... + 0.9^7
  const Floats df;
  float sum = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const State state = load(chunk, i * chunk.vectors / kSamples);
    const FloatVec denominator = hn::MulAdd(hn::Sqrt(state.v), constant(first.root2.high), constant(rule.eps));
    const FloatVec p = hn::Max(hn::Abs(state.p), constant(1e-30F));
    const FloatVec ulps =
        hn::Div(hn::Mul(hn::Abs(state.m), constant(std::fabs(first.rate) * 0x1p24F)), hn::Mul(denominator, p));
    sum += hn::GetLane(hn::SumOfLanes(df, hn::Min(ulps, constant(1e6F))));
  }
  return sum / kSamples * (2 * 14.6F * 0x1p-24F * kStepsWorth);
}

/// The list of all vectors of a chunk.
inline constexpr std::array<std::uint8_t, Chunk::kVectors> kEach = [] {
  std::array<std::uint8_t, Chunk::kVectors> each{};
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<std::uint8_t>(i);
  return each;
}();

/// Steps without a gradient on a chunk of a usual row: exact ones while its updates are large, then verified blocks,
/// and none but the decay once nothing moves.
template <bool kDecay>
HWY_INLINE void usual_steps(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                            RowFetcher& fetcher) {
  constexpr std::size_t kFew = 5;           // steps for which the scalars of a verified block do not pay
  constexpr std::size_t kNarrow = 8;        // and vectors
  constexpr float kFails = 0.12F;           // lanes left unproven from which exact steps are cheaper
  constexpr float kHardlyFails = 0.074F;    // and below which blocks may be long
  constexpr float kInert = 1e-4F;           // a chunk this quiet may be inert as a whole
  constexpr std::size_t kInertSteps = 128;  // so many steps are then tried at once
  const auto log_beta1 = static_cast<float>(std::log(std::max(rule.beta1, 0.01)));

  float unproven = steps.size() < kFew ? 0 : unproven_lanes(rule, steps.front(), chunk);
  bool quiet = unproven < kInert;
  while (!steps.empty()) {
    if (quiet && steps.size() > VerifiedScalars::kMost / 2) {
      const auto tried = steps.first(std::min(steps.size(), kInertSteps));
      if (all_inert(rule, tried, chunk)) {
        inert_steps<kDecay>(rule, tried, chunk);
        steps = steps.subspan(tried.size());
        continue;
      }
    }
    std::size_t count = 0;
    bool verify = chunk.vectors >= kNarrow;
    if (verify && unproven > kFails) count = 1 + static_cast<std::size_t>(std::log(kFails / unproven) / log_beta1);
    verify = verify && count == 0 && steps.size() >= kFew;
    if (verify) {
      const bool longer = unproven < kHardlyFails;
      count = std::min(longer ? VerifiedScalars::kMost : VerifiedScalars::kMost / 2, steps.size());
      if (steps.size() - count < kFew)
        count = longer && steps.size() <= VerifiedScalars::kMost ? steps.size() : (steps.size() + 1) / 2;
    } else {
      if (count == 0 || count + kFew > steps.size()) count = steps.size();
      const std::size_t blocks = (count + AdamWRule::kBlock - 1) / AdamWRule::kBlock;
      count = (count + blocks - 1) / blocks;  // of like length
    }

    const auto now = steps.first(count);
    steps = steps.subspan(count);
    unproven *= std::exp(log_beta1 * static_cast<float>(count));
    quiet = unproven < kInert;
    if (verify) {
      const VerifiedScalars block(rule, now);
      if (block.usable) {
        quiet = verified_block<kDecay>(rule, block, chunk, fetcher) == chunk.vectors;
        continue;
      }
    }
    exact_block<kDecay>(rule, now, chunk, kEach.data(), chunk.vectors, fetcher);
  }
}

template <bool kDecay>
HWY_INLINE void chunk_steps(RowKind kind, const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                            RowFetcher& fetcher) {
  if (kind == RowKind::kUntouched) {
    if (kDecay) untouched_steps(steps, chunk);
  } else if (kind == RowKind::kUsual) {
    usual_steps<kDecay>(rule, steps, chunk, fetcher);
  } else {
    for (std::size_t i = 0; i < chunk.vectors; ++i) plain_vector<kDecay, true>(rule, steps, chunk, i);
  }
}

/// Steps without a gradient on a row. Numbers behind the last whole vector are padded with some that are no trouble.
template <bool kDecay>
HWY_INLINE void row_steps(RowKind kind, const AdamWRule& rule, std::span<const AdamWStep> steps, float* p,
                          float* moments, std::size_t dim, RowFetcher& fetcher) {
  const std::size_t lanes = hn::Lanes(Floats());
  float* m = moments;
  float* v = moments + dim;
  std::size_t k = 0;
  while (k + lanes <= dim) {
    const std::size_t vectors = std::min((dim - k) / lanes, Chunk::kVectors);
    chunk_steps<kDecay>(kind, rule, steps, {p + k, m + k, v + k, vectors}, fetcher);
    k += vectors * lanes;
  }
  if (k == dim) return;
  HWY_ALIGN float rest[3][HWY_MAX_BYTES / sizeof(float)];
  std::fill_n(rest[0], lanes, 1.0F);
  std::fill_n(rest[1], lanes, 0.0F);
  std::fill_n(rest[2], lanes, 1.0F);
  std::copy(p + k, p + dim, rest[0]);
  std::copy(m + k, m + dim, rest[1]);
  std::copy(v + k, v + dim, rest[2]);
  chunk_steps<kDecay>(kind, rule, steps, {rest[0], rest[1], rest[2], 1}, fetcher);
  std::copy_n(rest[0], dim - k, p + k);
  std::copy_n(rest[1], dim - k, m + k);
  std::copy_n(rest[2], dim - k, v + k);
}

}  // namespace firstlayer::adamw_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
