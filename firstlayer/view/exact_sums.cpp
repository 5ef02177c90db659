// The sums on vectors: as many registers of float64 as make up the lanes.

#include "firstlayer/view/exact_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/view/exact_sums.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::exact_sums::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Sums = hn::Vec<Doubles>;
constexpr std::size_t kVectors = kLanes / hn::MaxLanes(Doubles());

/// fold() of the sums over k of step(sum, x[k], y[k]).
template <class Step>
HWY_INLINE double sum(std::span<const float> x, std::span<const float> y, Step step) {
  const Doubles dd;
  const hn::Rebind<float, Doubles> df;
  const std::size_t lanes = hn::Lanes(dd);
  Sums sums[kVectors];
  for (Sums& one : sums) one = hn::Zero(dd);
  std::size_t k = 0;
  for (; k + kLanes <= x.size(); k += kLanes) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      const auto left = hn::PromoteTo(dd, hn::LoadU(df, x.data() + k + j * lanes));
      const auto right = hn::PromoteTo(dd, hn::LoadU(df, y.data() + k + j * lanes));
      sums[j] = step(sums[j], left, right);
    }
  }
  alignas(64) std::array<double, kLanes> all;
  for (std::size_t j = 0; j < kVectors; ++j) hn::Store(sums[j], dd, all.data() + j * lanes);
  const hn::CappedTag<double, 1> one;
  for (std::size_t j = 0; k < x.size(); ++k, ++j) {
    const auto total =
        step(hn::Set(one, all[j]), hn::Set(one, static_cast<double>(x[k])), hn::Set(one, static_cast<double>(y[k])));
    all[j] = hn::GetLane(total);
  }
  return fold(all);
}

double dot_row(std::span<const float> x, std::span<const float> y) {
  return sum(x, y, [](auto total, auto left, auto right) HWY_ATTR { return hn::MulAdd(left, right, total); });
}

double squared_distance_row(std::span<const float> x, std::span<const float> y) {
  return sum(x, y, [](auto total, auto left, auto right) HWY_ATTR {
    const auto difference = hn::Sub(left, right);
    return hn::Add(total, hn::Mul(difference, difference));
  });
}

}  // namespace firstlayer::exact_sums::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::exact_sums {

HWY_EXPORT(dot_row);
HWY_EXPORT(squared_distance_row);

double dot(std::span<const float> x, std::span<const float> y) { return HWY_DYNAMIC_DISPATCH(dot_row)(x, y); }

double squared_distance(std::span<const float> x, std::span<const float> y) {
  return HWY_DYNAMIC_DISPATCH(squared_distance_row)(x, y);
}

}  // namespace firstlayer::exact_sums
#endif  // HWY_ONCE
