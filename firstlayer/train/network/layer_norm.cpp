// Layer norm on vectors of rows: every sum over features is one of whole vectors.

#include "firstlayer/train/network/layer_norm.h"

#include <cstddef>

#include "firstlayer/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/network/layer_norm.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::layer_norm_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
constexpr std::size_t kVector = hn::MaxLanes(Floats());

/// Calls body(offset of a vector's lanes in its panel) for each vector of rows.
template <class Body>
HWY_INLINE void for_vectors(const Body& body) {
  for (std::size_t lane = 0; lane < kPanelRows; lane += kVector) body(lane);
}

void normalize_panels(const LayerNorm& job, std::size_t begin, std::size_t end) {
  const Floats df;
  const std::size_t d = job.x.features;
  const auto share = hn::Set(df, 1 / static_cast<float>(d));
  for (std::size_t p = begin; p < end; ++p) {
    for_vectors([&](std::size_t lane) HWY_ATTR {
      const float* x = job.x.panel(p) + lane;
      auto sum = hn::Zero(df);
      for (std::size_t f = 0; f < d; ++f) sum = hn::Add(sum, hn::Load(df, x + f * kPanelRows));
      const auto mean = hn::Mul(sum, share);
      auto squares = hn::Zero(df);
      for (std::size_t f = 0; f < d; ++f) {
        const auto rest = hn::Sub(hn::Load(df, x + f * kPanelRows), mean);
        squares = hn::MulAdd(rest, rest, squares);
      }
      const auto variance = hn::MulAdd(squares, share, hn::Set(df, job.eps));
      hn::Store(mean, df, job.mean + p * kPanelRows + lane);
      hn::Store(hn::Div(hn::Set(df, 1.0F), hn::Sqrt(variance)), df, job.scale + p * kPanelRows + lane);
    });
  }
}

void apply_panels(const LayerNorm& job, std::size_t begin, std::size_t end) {
  const Floats df;
  for (std::size_t p = begin; p < end; ++p) {
    for_vectors([&](std::size_t lane) HWY_ATTR {
      const float* x = job.x.panel(p) + lane;
      float* y = job.y.panel(p) + lane;
      const auto mean = hn::Load(df, job.mean + p * kPanelRows + lane);
      const auto scale = hn::Load(df, job.scale + p * kPanelRows + lane);
      for (std::size_t f = 0; f < job.x.features; ++f) {
        const auto h = hn::Mul(hn::Sub(hn::Load(df, x + f * kPanelRows), mean), scale);
        hn::Store(hn::MulAdd(h, hn::Set(df, job.weight[f]), hn::Set(df, job.bias[f])), df, y + f * kPanelRows);
      }
    });
  }
}

/// dx, and the sums over the rows of each panel.
void gradient_panels(const LayerNormGradient& job, std::size_t begin, std::size_t end) {
  const Floats df;
  const std::size_t d = job.x.features;
  const auto share = hn::Set(df, 1 / static_cast<float>(d));
  for (std::size_t p = begin; p < end; ++p) {
    float* dweight = job.scratch + p * 2 * d;
    float* dbias = dweight + d;
    for_vectors([&](std::size_t lane) HWY_ATTR {
      const float* x = job.x.panel(p) + lane;
      const float* dy = job.dy.panel(p) + lane;
      float* dx = job.dx.panel(p) + lane;
      const auto mean = hn::Load(df, job.mean + p * kPanelRows + lane);
      const auto scale = hn::Load(df, job.scale + p * kPanelRows + lane);
      const auto h = [&](std::size_t f)
                         HWY_ATTR { return hn::Mul(hn::Sub(hn::Load(df, x + f * kPanelRows), mean), scale); };
      const auto g = [&](std::size_t f)
                         HWY_ATTR { return hn::Mul(hn::Load(df, dy + f * kPanelRows), hn::Set(df, job.weight[f])); };
      auto sum_g = hn::Zero(df);
      auto sum_gh = hn::Zero(df);
      for (std::size_t f = 0; f < d; ++f) {
        sum_g = hn::Add(sum_g, g(f));
        sum_gh = hn::MulAdd(g(f), h(f), sum_gh);
      }
      const auto mean_g = hn::Mul(sum_g, share);
      const auto mean_gh = hn::Mul(sum_gh, share);
      for (std::size_t f = 0; f < d; ++f) {
        const auto its = hn::Load(df, dy + f * kPanelRows);
        const float over_rows = hn::GetLane(hn::SumOfLanes(df, hn::Mul(its, h(f))));
        const float rows = hn::GetLane(hn::SumOfLanes(df, its));
        dweight[f] = lane == 0 ? over_rows : dweight[f] + over_rows;
        dbias[f] = lane == 0 ? rows : dbias[f] + rows;
        auto out = hn::Mul(scale, hn::NegMulAdd(h(f), mean_gh, hn::Sub(g(f), mean_g)));
        if (job.add) out = hn::Add(hn::Load(df, dx + f * kPanelRows), out);
        hn::Store(out, df, dx + f * kPanelRows);
      }
    });
  }
}

}  // namespace firstlayer::layer_norm_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {
namespace layer_norm_kernels {
HWY_EXPORT(normalize_panels);
HWY_EXPORT(apply_panels);
HWY_EXPORT(gradient_panels);
}  // namespace layer_norm_kernels

void layer_norm(const LayerNorm& job) {
  using namespace layer_norm_kernels;
  parallel_for(job.x.count, job.threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(normalize_panels)(job, begin, end);
    HWY_DYNAMIC_DISPATCH(apply_panels)(job, begin, end);
  });
}

void layer_norm_again(const LayerNorm& job) {
  using namespace layer_norm_kernels;
  parallel_for(job.x.count, job.threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(apply_panels)(job, begin, end);
  });
}

void layer_norm_gradient(const LayerNormGradient& job) {
  using namespace layer_norm_kernels;
  parallel_for(job.x.count, job.threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(gradient_panels)(job, begin, end);
  });
  const std::size_t d = job.x.features;
  float* sums = job.scratch;
  for (std::size_t p = 1; p < job.x.count; ++p) {
    for (std::size_t f = 0; f < 2 * d; ++f) sums[f] += job.scratch[p * 2 * d + f];
  }
  job.sink->take(job.weight_tensor, 0, {sums, d});
  job.sink->take(job.weight_tensor + 1, 0, {sums + d, d});
}

}  // namespace firstlayer
#endif  // HWY_ONCE
