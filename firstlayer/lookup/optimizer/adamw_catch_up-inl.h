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
#include "firstlayer/lookup/optimizer/adamw_inert-inl.h"
#include "firstlayer/lookup/optimizer/adamw_kernels.h"

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

/// The list of all vectors of a chunk.
inline constexpr std::array<std::uint8_t, Chunk::kVectors> kEach = [] {
  std::array<std::uint8_t, Chunk::kVectors> each{};
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<std::uint8_t>(i);
  return each;
}();

/// Steps without a gradient on a chunk of a usual row, in blocks: vectors that a block cannot move only decay.
template <bool kDecay>
HWY_INLINE void usual_steps(const AdamWRule& rule, std::span<const AdamWStep> steps, const Chunk& chunk,
                            RowFetcher& fetcher) {
  constexpr std::size_t kInertBlock = 128;
  constexpr std::size_t kFew = 5;  // steps for which it does not pay to look
  constexpr std::size_t kSamples = 3;
  std::size_t longest = AdamWRule::kBlock;
  while (!steps.empty()) {
    const std::size_t blocks = (steps.size() + longest - 1) / longest;
    const auto block = steps.first((steps.size() + blocks - 1) / blocks);  // of like length
    steps = steps.subspan(block.size());

    const InertBound bound(rule, block);
    bool some_inert = false;
    for (std::size_t i = 0; bound.usable && block.size() >= kFew && i < kSamples && !some_inert; ++i) {
      some_inert = is_inert(rule, bound, chunk, i * chunk.vectors / kSamples);
    }
    if (!some_inert) {
      exact_steps<kDecay>(rule, block, chunk, kEach.data(), chunk.vectors, fetcher);
      longest = AdamWRule::kBlock;
      continue;
    }
    std::uint8_t inert[Chunk::kVectors];
    std::uint8_t moving[Chunk::kVectors];
    std::size_t inert_count = 0;
    std::size_t moving_count = 0;
    for (std::size_t i = 0; i < chunk.vectors; ++i) {
      const bool still = is_inert(rule, bound, chunk, i);
      inert[inert_count] = moving[moving_count] = static_cast<std::uint8_t>(i);
      inert_count += still ? 1 : 0;
      moving_count += still ? 0 : 1;
    }
    inert_steps<kDecay>(rule, block, chunk, inert, inert_count, fetcher);
    exact_steps<kDecay>(rule, block, chunk, moving, moving_count, fetcher);
    longest = moving_count == 0 ? kInertBlock : AdamWRule::kBlock;
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
