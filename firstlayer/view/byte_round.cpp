// The rounding on vectors.

#include "firstlayer/view/byte_round.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/view/byte_round.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Tag>
HWY_INLINE void round_lanes(Tag df, const float* x, float inverse, float scale, std::int8_t* bytes, float* rounded) {
  const auto nearest = hn::NearestInt(hn::Mul(hn::LoadU(df, x), hn::Set(df, inverse)));
  hn::StoreU(hn::DemoteTo(hn::Rebind<std::int8_t, Tag>(), nearest), hn::Rebind<std::int8_t, Tag>(), bytes);
  hn::StoreU(hn::Mul(hn::ConvertTo(df, nearest), hn::Set(df, scale)), df, rounded);
}

float round_row_to_bytes(std::span<const float> x, int limit, std::span<std::int8_t> bytes, std::span<float> rounded) {
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(df);
  auto magnitudes = hn::Zero(df);
  std::size_t k = 0;
  for (; k + lanes <= x.size(); k += lanes) {
    magnitudes = hn::Max(magnitudes, hn::Abs(hn::LoadU(df, x.data() + k)));
  }
  float largest = hn::GetLane(hn::MaxOfLanes(df, magnitudes));
  for (; k < x.size(); ++k) largest = HWY_MAX(largest, x[k] < 0 ? -x[k] : x[k]);
  const bool zero = largest < kLeastMagnitude;
  const float scale = zero ? 0.0F : largest / static_cast<float>(limit);
  const float inverse = zero ? 0.0F : static_cast<float>(limit) / largest;
  for (k = 0; k + lanes <= x.size(); k += lanes) {
    round_lanes(df, x.data() + k, inverse, scale, bytes.data() + k, rounded.data() + k);
  }
  for (; k < x.size(); ++k) round_lanes(one, x.data() + k, inverse, scale, bytes.data() + k, rounded.data() + k);
  return scale;
}

}  // namespace firstlayer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {

HWY_EXPORT(round_row_to_bytes);

float round_to_bytes(std::span<const float> x, int limit, std::span<std::int8_t> bytes, std::span<float> rounded) {
  return HWY_DYNAMIC_DISPATCH(round_row_to_bytes)(x, limit, bytes, rounded);
}

}  // namespace firstlayer
#endif  // HWY_ONCE
