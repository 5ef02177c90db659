// The lookup on vectors. docs/lookup.md has what each step of it gains.

#include "firstlayer/lookup/row_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/row_pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/lookup/row_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::row_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;

/// What some columns of an output row are made of, and what to fetch meanwhile.
struct RowSources {
  const float* token;
  const float* position;  ///< nullptr without positions, and so is the next one
  const float* token_ahead;
  const float* position_next;
  float scale;
};

template <bool kPositions, bool kScaled>
HWY_INLINE float number(const RowSources& from, std::size_t k) {
  const float value = kScaled ? from.token[k] * from.scale : from.token[k];
  return kPositions ? value + from.position[k] : value;
}

/// out = token, or token + position, the token times a scale or not. The row of tokens is fetched into the second-level
/// cache: in the first it would get in the way of the streaming stores. The next position is needed at once, and for
/// every row of ids.
template <bool kPositions, bool kScaled, bool kStream>
HWY_INLINE void write_columns(const RowSources& from, float* HWY_RESTRICT out, std::size_t count) {
  const Floats df;
  const std::size_t lanes = hn::Lanes(df);
  constexpr std::size_t kLine = 64 / sizeof(float);
  std::size_t k = 0;
  if constexpr (kStream) {  // streaming stores need an aligned address
    const auto aligned = [&] { return reinterpret_cast<std::uintptr_t>(out + k) % (lanes * sizeof(float)) == 0; };
    for (; k < count && !aligned(); ++k) out[k] = number<kPositions, kScaled>(from, k);
  }
  while (k + std::max(kLine, lanes) <= count) {
    __builtin_prefetch(from.token_ahead + k, 0, 2);
    if constexpr (kPositions) __builtin_prefetch(from.position_next + k, 0, 3);
    for (const std::size_t line_end = k + std::max(kLine, lanes); k < line_end; k += lanes) {
      auto value = hn::LoadU(df, from.token + k);
      if constexpr (kScaled) value = hn::Mul(value, hn::Set(df, from.scale));
      if constexpr (kPositions) value = hn::Add(value, hn::LoadU(df, from.position + k));
      if constexpr (kStream) {
        hn::Stream(value, df, out + k);
      } else {
        hn::StoreU(value, df, out + k);
      }
    }
  }
  for (; k < count; ++k) out[k] = number<kPositions, kScaled>(from, k);
}

template <bool kPositions, bool kScaled, bool kStream>
void write_pieces(const Job& job, const Pieces& pieces, std::size_t begin, std::size_t end) {
  constexpr int kAhead = 8;  // rows between a prefetch and its use
  const std::size_t dim = job.table.shape()[1];
  const auto token = [&](const Walk& at) {
    return job.table.data() + job.ids(at.b(), at.t()) * dim + at.first_column();
  };
  const auto position_row = [&](std::size_t b, std::size_t t) {
    return job.positions + (job.position_ids == nullptr ? t : job.position_ids[b * pieces.length + t]) * dim;
  };
  Walk ahead(pieces, begin, end);
  for (int i = 0; i < kAhead && !ahead.done(); ++i) ahead.next();
  for (Walk now(pieces, begin, end); !now.done(); now.next()) {
    const std::size_t count = now.end_column() - now.first_column();
    RowSources from{};
    from.token = from.token_ahead = token(now);
    if (!ahead.done()) {
      from.token_ahead = token(ahead);
      ahead.next();
    }
    if constexpr (kPositions) {
      from.position = from.position_next = position_row(now.b(), now.t()) + now.first_column();
      if (now.end_column() < dim) {
        from.position_next += count;
      } else if (now.t() + 1 < pieces.length) {
        from.position_next = position_row(now.b(), now.t() + 1);
      }
    }
    if constexpr (kScaled) from.scale = job.scale;
    float* out = &job.out(now.b(), now.t(), now.first_column());
    write_columns<kPositions, kScaled, kStream>(from, out, count);
    if constexpr (!kStream) {
      if (job.finish != nullptr) (*job.finish)(now.b() * pieces.length + now.t(), {out, count});
    }
  }
  if constexpr (kStream) hwy::FlushStream();
}

template <bool kPositions, bool kScaled>
void store_pieces(const Job& job, const Pieces& pieces, bool stream, std::size_t begin, std::size_t end) {
  constexpr auto kStreamed = write_pieces<kPositions, kScaled, true>;
  constexpr auto kCached = write_pieces<kPositions, kScaled, false>;
  (stream ? kStreamed : kCached)(job, pieces, begin, end);
}

void run_pieces(const Job& job, const Pieces& pieces, bool stream, std::size_t begin, std::size_t end) {
  const bool scaled = job.scale != 1.0F;
  if (job.positions != nullptr) {
    (scaled ? store_pieces<true, true> : store_pieces<true, false>)(job, pieces, stream, begin, end);
  } else {
    (scaled ? store_pieces<false, true> : store_pieces<false, false>)(job, pieces, stream, begin, end);
  }
}

}  // namespace firstlayer::row_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::row_kernels {

HWY_EXPORT(run_pieces);

void run(const Job& job, unsigned threads, bool stream) {
  if (job.out.size() == 0) return;
  const Pieces pieces(job);
  const std::size_t out_bytes = job.out.size() * sizeof(float);
  // Waking a thread costs more than it saves on less than this.
  constexpr std::size_t kBytesPerThread = std::size_t{256} << 10;
  if (threads == 0) threads = hardware_threads();
  threads = static_cast<unsigned>(std::clamp<std::size_t>(out_bytes / kBytesPerThread, 1, threads));
  parallel_for(pieces.count, threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(run_pieces)(job, pieces, stream && job.finish == nullptr, begin, end);
  });
}

}  // namespace firstlayer::row_kernels
#endif  // HWY_ONCE
