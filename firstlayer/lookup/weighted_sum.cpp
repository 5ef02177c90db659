// The sum of picked rows on vectors: some columns at a time, summed in registers over all rows.

#include "firstlayer/lookup/weighted_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/lookup/weighted_sum.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::weighted_sum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Columns [k, k + kCount vectors).
template <bool kWeights, std::size_t kCount, class Tag>
HWY_INLINE void sum_block(Tag df, const float* rows, std::size_t dim, std::span<const std::uint32_t> indices,
                          std::span<const float> weights, std::size_t k, float* out) {
  const std::size_t lanes = hn::Lanes(df);
  hn::Vec<Tag> sums[kCount];
  for (auto& sum : sums) sum = hn::Zero(df);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const float* row = rows + indices[i] * dim + k;
    for (std::size_t j = 0; j < kCount; ++j) {
      const auto value = hn::LoadU(df, row + j * lanes);
      if constexpr (kWeights) {
        sums[j] = hn::MulAdd(value, hn::Set(df, weights[i]), sums[j]);
      } else {
        sums[j] = hn::Add(sums[j], value);
      }
    }
  }
  for (std::size_t j = 0; j < kCount; ++j) hn::StoreU(sums[j], df, out + k + j * lanes);
}

template <bool kWeights>
void sum_columns(const float* rows, std::size_t dim, std::span<const std::uint32_t> indices,
                 std::span<const float> weights, float* out) {
  constexpr std::size_t kMany = 8;
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t k = 0;
  for (; k + kMany * lanes <= dim; k += kMany * lanes) {
    sum_block<kWeights, kMany>(df, rows, dim, indices, weights, k, out);
  }
  for (; k + lanes <= dim; k += lanes) sum_block<kWeights, 1>(df, rows, dim, indices, weights, k, out);
  for (; k < dim; ++k) sum_block<kWeights, 1>(one, rows, dim, indices, weights, k, out);
}

void sum_row(const float* rows, std::size_t dim, std::span<const std::uint32_t> indices, std::span<const float> weights,
             float* out) {
  if (weights.empty()) return sum_columns<false>(rows, dim, indices, weights, out);
#if HWY_NATIVE_FMA
  sum_columns<true>(rows, dim, indices, weights, out);
#else
  sum_reference(rows, dim, indices, weights, out);
#endif
}

}  // namespace firstlayer::weighted_sum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::weighted_sum {

HWY_EXPORT(sum_row);

void sum(const float* rows, std::size_t dim, std::span<const std::uint32_t> indices, std::span<const float> weights,
         float* out) {
  HWY_DYNAMIC_DISPATCH(sum_row)(rows, dim, indices, weights, out);
}

}  // namespace firstlayer::weighted_sum
#endif  // HWY_ONCE
