// Tiles of attention on vectors of queries.

#include "firstlayer/train/network/attention_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/network/attention_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "firstlayer/train/network/exp-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::attention_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using firstlayer::vector_math::HWY_NAMESPACE::exp_of;
using Floats = hn::CappedTag<float, kPanelRows>;
using FloatVec = hn::Vec<Floats>;
constexpr std::size_t kVector = hn::MaxLanes(Floats());

/// A vector of queries of a tile, and what they see.
class Queries {
 public:
  HWY_INLINE Queries(const ScoreRule& rule, std::size_t lane)
      : rule_(rule), places_(hn::Iota(Floats(), static_cast<float>(lane))) {}

  HWY_INLINE FloatVec score(FloatVec product, std::size_t key) const {
    const Floats df;
    const FloatVec scaled = hn::Mul(product, hn::Set(df, rule_.scale));
    if (rule_.slope == 0) return scaled;
    const FloatVec distance = hn::Sub(hn::Set(df, rule_.distance + static_cast<float>(key)), places_);
    return hn::MulAdd(hn::Set(df, rule_.slope), distance, scaled);
  }

  /// x where the query sees the key, `other` where it does not.
  HWY_INLINE FloatVec seen(std::size_t key, FloatVec x, FloatVec other) const {
    if (!rule_.diagonal()) return x;
    return hn::IfThenElse(hn::Le(hn::Set(Floats(), static_cast<float>(key)), places_), x, other);
  }

 private:
  const ScoreRule& rule_;
  FloatVec places_;
};

void softmax(const SoftmaxTile& job) {
  const Floats df;
  for (std::size_t lane = 0; lane < kPanelRows; lane += kVector) {
    const Queries queries(job.rule, lane);
    float* tile = job.tile + lane;
    const auto before = hn::LoadU(df, job.largest + lane);
    auto largest = before;
    for (std::size_t key = 0; key < kPanelRows; ++key) {
      const auto score = queries.score(hn::Load(df, tile + key * kPanelRows), key);
      hn::Store(score, df, tile + key * kPanelRows);
      largest = hn::Max(largest, queries.seen(key, score, largest));
    }
    const auto factor = exp_of(df, hn::Sub(before, largest));
    auto sum = hn::Zero(df);
    for (std::size_t key = 0; key < kPanelRows; ++key) {
      const auto e = exp_of(df, hn::Sub(hn::Load(df, tile + key * kPanelRows), largest));
      const auto share = queries.seen(key, e, hn::Zero(df));
      hn::Store(share, df, tile + key * kPanelRows);
      sum = hn::Add(sum, share);
    }
    hn::StoreU(largest, df, job.largest + lane);
    hn::StoreU(factor, df, job.factors + lane);
    hn::StoreU(hn::MulAdd(hn::LoadU(df, job.sums + lane), factor, sum), df, job.sums + lane);
  }
}

void softmax_gradient(const SoftmaxGradientTile& job) {
  const Floats df;
  for (std::size_t lane = 0; lane < kPanelRows; lane += kVector) {
    const Queries queries(job.rule, lane);
    const auto log_sum = hn::LoadU(df, job.log_sums + lane);
    const auto mean = hn::LoadU(df, job.means + lane);
    const auto scale = hn::Set(df, job.rule.scale);
    for (std::size_t key = 0; key < kPanelRows; ++key) {
      float* shares = job.shares + key * kPanelRows + lane;
      float* gradients = job.gradients + key * kPanelRows + lane;
      const auto e = exp_of(df, hn::Sub(queries.score(hn::Load(df, shares), key), log_sum));
      const auto share = queries.seen(key, e, hn::Zero(df));
      hn::Store(share, df, shares);
      hn::Store(hn::Mul(hn::Mul(share, hn::Sub(hn::Load(df, gradients), mean)), scale), df, gradients);
    }
  }
}

}  // namespace firstlayer::attention_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {
namespace attention_kernels {
HWY_EXPORT(softmax);
HWY_EXPORT(softmax_gradient);
}  // namespace attention_kernels

void softmax_tile(const SoftmaxTile& job) {
  using namespace attention_kernels;
  HWY_DYNAMIC_DISPATCH(softmax)(job);
}

void softmax_gradient_tile(const SoftmaxGradientTile& job) {
  using namespace attention_kernels;
  HWY_DYNAMIC_DISPATCH(softmax_gradient)(job);
}

}  // namespace firstlayer
#endif  // HWY_ONCE
