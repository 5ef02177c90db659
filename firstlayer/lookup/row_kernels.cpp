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

/// out = row, or row + position.
template <bool kPositions, bool kStream>
HWY_INLINE void write_row(const float* row, const float* position, float* HWY_RESTRICT out, std::size_t dim) {
  const Floats df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t k = 0;
  const auto one = [&] {
    out[k] = kPositions ? row[k] + position[k] : row[k];
    ++k;
  };
  if constexpr (kStream) {  // streaming stores need an aligned address
    while (k < dim && reinterpret_cast<std::uintptr_t>(out + k) % (lanes * sizeof(float)) != 0) one();
  }
  for (; k + lanes <= dim; k += lanes) {
    auto value = hn::LoadU(df, row + k);
    if constexpr (kPositions) value = hn::Add(value, hn::LoadU(df, position + k));
    if constexpr (kStream) {
      hn::Stream(value, df, out + k);
    } else {
      hn::StoreU(value, df, out + k);
    }
  }
  while (k < dim) one();
}

HWY_INLINE void prefetch_row(const float* row, std::size_t dim) {
  constexpr std::size_t kLine = 64 / sizeof(float);
  for (std::size_t k = 0; k < dim; k += kLine) hwy::Prefetch(row + k);
}

template <bool kPositions, bool kStream>
void write_pieces(const Job& job, const Pieces& pieces, std::size_t begin, std::size_t end) {
  constexpr std::size_t kAhead = 2;  // rows between a prefetch and its use
  const std::size_t dim = job.table.shape()[1];
  const auto token_row = [&](std::size_t b, std::size_t t) { return job.table.data() + job.ids(b, t) * dim; };
  for (std::size_t piece = begin; piece < end; ++piece) {
    const std::size_t b = pieces.row(piece);
    const std::size_t last = pieces.end(piece);
    for (std::size_t t = pieces.begin(piece); t < last; ++t) {
      if (t + kAhead < last) {
        prefetch_row(token_row(b, t + kAhead), dim);
      } else if (piece + 1 < end) {
        const std::size_t ahead = pieces.begin(piece + 1) + (t + kAhead - last);
        if (ahead < pieces.end(piece + 1)) prefetch_row(token_row(pieces.row(piece + 1), ahead), dim);
      }
      const float* position = kPositions ? job.positions + t * dim : nullptr;
      write_row<kPositions, kStream>(token_row(b, t), position, &job.out(b, t, 0), dim);
    }
  }
  if constexpr (kStream) hwy::FlushStream();
}

void run_pieces(const Job& job, const Pieces& pieces, std::size_t begin, std::size_t end) {
  const bool stream = job.out.size() * sizeof(float) >= kStreamBytes;
  if (job.positions != nullptr) {
    (stream ? write_pieces<true, true> : write_pieces<true, false>)(job, pieces, begin, end);
  } else {
    (stream ? write_pieces<false, true> : write_pieces<false, false>)(job, pieces, begin, end);
  }
}

}  // namespace firstlayer::row_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::row_kernels {

HWY_EXPORT(run_pieces);

void run(const Job& job, unsigned threads) {
  if (job.out.size() == 0) return;
  const Pieces pieces(job);
  const std::size_t out_bytes = job.out.size() * sizeof(float);
  // Waking a thread costs more than it saves on less than this.
  constexpr std::size_t kBytesPerThread = std::size_t{256} << 10;
  if (threads == 0) threads = hardware_threads();
  threads = static_cast<unsigned>(std::clamp<std::size_t>(out_bytes / kBytesPerThread, 1, threads));
  parallel_for(pieces.count, threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(run_pieces)(job, pieces, begin, end);
  });
}

}  // namespace firstlayer::row_kernels
#endif  // HWY_ONCE
