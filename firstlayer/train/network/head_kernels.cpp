// Exponentials of logits on vectors.

#include "firstlayer/train/network/head_kernels.h"

#include <algorithm>
#include <cstddef>

#include "firstlayer/train/network/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/network/head_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "firstlayer/train/network/exp-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::head_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using firstlayer::vector_math::HWY_NAMESPACE::exp_of;
using Floats = hn::CappedTag<float, 16>;
constexpr std::size_t kVector = hn::MaxLanes(Floats());

void find_largest(const LogitTile& tile, float* largest) {
  const Floats df;
  for (std::size_t lane = 0; lane < kPanelRows; lane += kVector) {
    auto most = hn::LoadU(df, largest + lane);
    for (std::size_t v = 0; v < tile.tokens; ++v)
      most = hn::Max(most, hn::Load(df, tile.logits + v * kPanelRows + lane));
    hn::StoreU(most, df, largest + lane);
  }
}

template <bool kKeep>
void take_exponentials(const TileExponentials& job) {
  const Floats df;
  using Vec = hn::Vec<Floats>;
  // A line of the cache at a time: one that is streamed in parts goes to memory in parts.
  constexpr std::size_t kLine = 64 / sizeof(float);
  constexpr std::size_t kVectors = kLine / kVector;
  for (std::size_t lane = 0; lane < kPanelRows; lane += kLine) {
    Vec offsets[kVectors], sums[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i) {
      offsets[i] = hn::LoadU(df, job.offsets + lane + i * kVector);
      sums[i] = hn::LoadU(df, job.sums + lane + i * kVector);
    }
    for (std::size_t first = 0; first < job.tile.tokens; first += kStripRows) {
      const std::size_t end = std::min(job.tile.tokens, first + kStripRows);
      for (std::size_t v = first; v < end; ++v) {
        float* at = job.tile.logits + v * kPanelRows + lane;
        float* keep = kKeep ? job.keep + first / kStripRows * job.strip + (v - first) * kPanelRows + lane : nullptr;
        for (std::size_t i = 0; i < kVectors; ++i) {
          const Vec e = exp_of(df, hn::Sub(hn::Load(df, at + i * kVector), offsets[i]));
          sums[i] = hn::Add(sums[i], e);
          hn::Store(e, df, at + i * kVector);
          if constexpr (kKeep) hn::Stream(e, df, keep + i * kVector);
        }
      }
    }
    for (std::size_t i = 0; i < kVectors; ++i) hn::StoreU(sums[i], df, job.sums + lane + i * kVector);
  }
  if constexpr (kKeep) hwy::FlushStream();
}

void take_any_exponentials(const TileExponentials& job) {
  if (job.keep != nullptr) {
    take_exponentials<true>(job);
  } else {
    take_exponentials<false>(job);
  }
}

}  // namespace firstlayer::head_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {
namespace head_kernels {
HWY_EXPORT(find_largest);
HWY_EXPORT(take_any_exponentials);
}  // namespace head_kernels

void largest_logits(const LogitTile& tile, float* largest) {
  using namespace head_kernels;
  HWY_DYNAMIC_DISPATCH(find_largest)(tile, largest);
}

void tile_exponentials(const TileExponentials& job) {
  using namespace head_kernels;
  HWY_DYNAMIC_DISPATCH(take_any_exponentials)(job);
}

}  // namespace firstlayer
#endif  // HWY_ONCE
