// The products on vectors.

#include "firstlayer/train/generate/weight_matrix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/generate/weight_matrix.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::weight_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows whose terms are added to a stretch of y while it is in registers.
constexpr std::size_t kRows = 4;

template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag df, const float* weights) {
  return hn::LoadU(df, weights);
}

/// bfloat16 is the upper half of a float32.
template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag df, const BFloat16* weights) {
  static_assert(sizeof(BFloat16) == sizeof(std::uint16_t));
  const hn::RebindToUnsigned<Tag> du;
  const hn::Rebind<std::uint16_t, Tag> half;
  const auto bits = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(weights));
  return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}

/// Adds kCount rows from `weights` on to whole vectors of y from n on; where they end.
template <std::size_t kCount, class Tag, class Weight>
HWY_INLINE std::size_t add_rows(Tag df, const Weight* weights, std::size_t columns, const float* x, std::size_t n,
                                std::size_t end, float* y) {
  const std::size_t lanes = hn::Lanes(df);
  hn::Vec<Tag> factors[kCount];
  for (std::size_t k = 0; k < kCount; ++k) factors[k] = hn::Set(df, x[k]);
  for (; n + lanes <= end; n += lanes) {
    auto sum = hn::LoadU(df, y + n);
    for (std::size_t k = 0; k < kCount; ++k) sum = hn::MulAdd(factors[k], load(df, weights + k * columns + n), sum);
    hn::StoreU(sum, df, y + n);
  }
  return n;
}

template <std::size_t kCount, class Weight>
HWY_INLINE void add_rows_to(const Weight* weights, std::size_t columns, const float* x, std::size_t begin,
                            std::size_t end, float* y) {
  const std::size_t whole = add_rows<kCount>(hn::ScalableTag<float>(), weights, columns, x, begin, end, y);
  add_rows<kCount>(hn::CappedTag<float, 1>(), weights, columns, x, whole, end, y);
}

template <class Weight>
HWY_INLINE void add_all_rows(const Weight* weights, const WeightMatrix& matrix, const float* x, std::size_t begin,
                             std::size_t end, float* y) {
  std::size_t k = 0;
  for (; k + kRows <= matrix.rows; k += kRows) {
    add_rows_to<kRows>(weights + k * matrix.columns, matrix.columns, x + k, begin, end, y);
  }
  for (; k < matrix.rows; ++k) {
    add_rows_to<1>(weights + k * matrix.columns, matrix.columns, x + k, begin, end, y);
  }
}

void add_products(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* y) {
  if (matrix.floats != nullptr) {
    add_all_rows(matrix.floats, matrix, x, begin, end, y);
  } else {
    add_all_rows(matrix.halves, matrix, x, begin, end, y);
  }
}

/// Whole vectors from k on, added to `sum`; where they end.
template <class Tag, class Weight>
HWY_INLINE std::size_t add_dots(Tag df, const Weight* row, const float* x, std::size_t k, std::size_t columns,
                                hn::Vec<Tag>& sum) {
  const std::size_t lanes = hn::Lanes(df);
  for (; k + lanes <= columns; k += lanes) sum = hn::MulAdd(load(df, row + k), hn::LoadU(df, x + k), sum);
  return k;
}

template <class Weight>
HWY_INLINE void dot_rows(const Weight* weights, std::size_t columns, const float* x, std::size_t begin, std::size_t end,
                         float* out) {
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  for (std::size_t i = begin; i < end; ++i) {
    const Weight* row = weights + i * columns;
    auto sums = hn::Zero(df);
    const std::size_t whole = add_dots(df, row, x, 0, columns, sums);
    auto sum = hn::Set(one, hn::GetLane(hn::SumOfLanes(df, sums)));
    add_dots(one, row, x, whole, columns, sum);
    out[i] = hn::GetLane(sum);
  }
}

void dot_matrix(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* out) {
  if (matrix.floats != nullptr) {
    dot_rows(matrix.floats, matrix.columns, x, begin, end, out);
  } else {
    dot_rows(matrix.halves, matrix.columns, x, begin, end, out);
  }
}

}  // namespace firstlayer::weight_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {
namespace weight_kernels {

HWY_EXPORT(add_products);
HWY_EXPORT(dot_matrix);

namespace {

template <class Weight>
void copy_floats(const Weight* from, std::size_t columns, const WeightBlock& block) {
  for (std::size_t i = 0; i < block.rows; ++i) {
    const Weight* row = from + (block.row + i) * columns + block.column;
    float* out = block.out + i * block.stride;
    for (std::size_t j = 0; j < block.columns; ++j) out[j] = static_cast<float>(row[j]);
  }
}

}  // namespace
}  // namespace weight_kernels

void add_row_products(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* y) {
  using namespace weight_kernels;
  HWY_DYNAMIC_DISPATCH(add_products)(matrix, x, begin, end, y);
}

void row_dots(const WeightMatrix& matrix, const float* x, std::size_t begin, std::size_t end, float* out) {
  using namespace weight_kernels;
  HWY_DYNAMIC_DISPATCH(dot_matrix)(matrix, x, begin, end, out);
}

void copy_block(const WeightMatrix& matrix, const WeightBlock& block) {
  using namespace weight_kernels;
  if (matrix.floats != nullptr) {
    copy_floats(matrix.floats, matrix.columns, block);
  } else {
    copy_floats(matrix.halves, matrix.columns, block);
  }
}

}  // namespace firstlayer
#endif  // HWY_ONCE
