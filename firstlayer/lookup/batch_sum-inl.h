// The gradient of a position, summed over the batch in registers and handed on before it meets memory. Included by
// kernels once for each instruction set. Internal to the library.

#if defined(FIRSTLAYER_LOOKUP_BATCH_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_BATCH_SUM_INL_H_
#undef FIRSTLAYER_LOOKUP_BATCH_SUM_INL_H_
#else
#define FIRSTLAYER_LOOKUP_BATCH_SUM_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "firstlayer/lookup/gradient_kernels.h"
#include "firstlayer/lookup/group_sum-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// dout (batch, columns), where place (t, k) is column t * d + k.
struct BatchMemory {
  const float* dout;
  std::size_t batch;
  std::size_t columns;
};

/// Hands the sums of kCount vectors from column c on: use(df, c, sum).
template <std::size_t kCount, class Use>
HWY_INLINE void sum_batch_block(const BatchMemory& from, const gradient_kernels::Cascade& cascade, std::size_t c,
                                Use& use) {
  constexpr std::size_t kLevels = gradient_kernels::Cascade::kLevels;
  const hn::ScalableTag<float> df;
  const std::size_t lanes = hn::Lanes(df);
  const float* row = from.dout + c;
  hn::Vec<decltype(df)> sums[kLevels][kCount];
  for (auto& level : sums) {
    for (auto& sum : level) sum = hn::Zero(df);
  }
  for (std::size_t b = 0; b < from.batch; ++b, row += from.columns) {
    for (std::size_t j = 0; j < kCount; ++j) {
      sums[0][j] = hn::Add(sums[0][j], hn::LoadU(df, row + j * lanes));
      // The next block's numbers lie right behind these, in every row of the batch.
      if (kCount > 1 && j * lanes % kLineFloats == 0) fetch(row + (kCount + j) * lanes);
    }
    if (!cascade.ends_block(b + 1)) continue;
    for (std::size_t level = 0; level < cascade.carries(b + 1); ++level) {
      for (std::size_t j = 0; j < kCount; ++j) {
        sums[level + 1][j] = hn::Add(sums[level + 1][j], sums[level][j]);
        sums[level][j] = hn::Zero(df);
      }
    }
  }
  HWY_UNROLL(4) for (std::size_t j = 0; j < kCount; ++j) {
    use(df, c + j * lanes, hn::Add(hn::Add(hn::Add(sums[0][j], sums[1][j]), sums[2][j]), sums[3][j]));
  }
}

/// Hands the sums of columns [begin, end) over the batch on in vectors: use(df, c, sum), where df is a tag of as many
/// lanes as the sum has. They are those of gradient_kernels::sum_batch(), to the bit.
template <class Use>
HWY_INLINE void sum_batch_columns(const BatchMemory& from, std::size_t begin, std::size_t end, Use use) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  const hn::CappedTag<float, 1> one;
  const std::size_t blocked = std::min(end, gradient_kernels::blocked_columns(from.columns));
  const gradient_kernels::Cascade cascade(from.batch);
  std::size_t c = begin;
  for (; c + kSums * lanes <= blocked; c += kSums * lanes) sum_batch_block<kSums>(from, cascade, c, use);
  for (; c + lanes <= blocked; c += lanes) sum_batch_block<1>(from, cascade, c, use);
  for (; c < end; ++c) {
    use(one, c, hn::Set(one, gradient_kernels::column_sum(from.dout, from.batch, from.columns, c)));
  }
}

}  // namespace firstlayer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
