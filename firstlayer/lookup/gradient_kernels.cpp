// The sums behind every gradient on vectors. docs/lookup.md has what each step of it gains.

#include "firstlayer/lookup/gradient_kernels.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "firstlayer/base/half.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/group_pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/lookup/gradient_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "firstlayer/lookup/group_sum-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::gradient_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace groups_of = firstlayer::HWY_NAMESPACE;

template <class Element>
void sum_group_parts(const RowGroups& groups, const GroupPieces& pieces, const Element* dout, std::size_t dim,
                     float* rows, std::size_t from, std::size_t to) {
  pieces.visit(from, to, [&](std::size_t u, std::size_t begin, std::size_t end) {
    groups_of::sum_columns(groups, dout, dim, u, begin, end, std::array<groups_of::RowMemory, 0>{},
                           [&](auto df, std::size_t group, std::size_t k, auto sum)
                               HWY_ATTR { hn::StoreU(sum, df, rows + group * dim + k); });
  });
}

void sum_float_parts(const RowGroups& groups, const GroupPieces& pieces, const float* dout, std::size_t dim,
                     float* rows, std::size_t from, std::size_t to) {
  sum_group_parts(groups, pieces, dout, dim, rows, from, to);
}
void sum_bfloat16_parts(const RowGroups& groups, const GroupPieces& pieces, const BFloat16* dout, std::size_t dim,
                        float* rows, std::size_t from, std::size_t to) {
  sum_group_parts(groups, pieces, dout, dim, rows, from, to);
}
void sum_float16_parts(const RowGroups& groups, const GroupPieces& pieces, const Float16* dout, std::size_t dim,
                       float* rows, std::size_t from, std::size_t to) {
  sum_group_parts(groups, pieces, dout, dim, rows, from, to);
}

/// kCount vectors of sums from column c on.
template <std::size_t kCount>
HWY_INLINE void sum_batch_block(const float* dout, std::size_t batch, std::size_t columns, const Cascade& cascade,
                                std::size_t c, float* sums_out) {
  const hn::ScalableTag<float> df;
  const std::size_t lanes = hn::Lanes(df);
  const float* row = dout + c;
  hn::Vec<decltype(df)> sums[Cascade::kLevels][kCount];
  for (auto& level : sums) {
    for (auto& sum : level) sum = hn::Zero(df);
  }
  for (std::size_t b = 0; b < batch; ++b, row += columns) {
    for (std::size_t j = 0; j < kCount; ++j) {
      sums[0][j] = hn::Add(sums[0][j], hn::LoadU(df, row + j * lanes));
      // The next block's numbers lie right behind these, in every row of the batch.
      if (kCount > 1 && j * lanes % groups_of::kLineFloats == 0) groups_of::fetch(row + (kCount + j) * lanes);
    }
    if (!cascade.ends_block(b + 1)) continue;
    for (std::size_t level = 0; level < cascade.carries(b + 1); ++level) {
      for (std::size_t j = 0; j < kCount; ++j) {
        sums[level + 1][j] = hn::Add(sums[level + 1][j], sums[level][j]);
        sums[level][j] = hn::Zero(df);
      }
    }
  }
  for (std::size_t j = 0; j < kCount; ++j) {
    hn::StoreU(hn::Add(hn::Add(hn::Add(sums[0][j], sums[1][j]), sums[2][j]), sums[3][j]), df, sums_out + c + j * lanes);
  }
}

void sum_batch_columns(const float* dout, std::size_t batch, std::size_t columns, float* sums, std::size_t begin,
                       std::size_t end) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  const std::size_t blocked = std::min(end, blocked_columns(columns));
  const Cascade cascade(batch);
  std::size_t c = begin;
  for (; c + groups_of::kSums * lanes <= blocked; c += groups_of::kSums * lanes) {
    sum_batch_block<groups_of::kSums>(dout, batch, columns, cascade, c, sums);
  }
  for (; c + lanes <= blocked; c += lanes) sum_batch_block<1>(dout, batch, columns, cascade, c, sums);
  sum_columns_reference(dout, batch, columns, sums, c, end);
}

}  // namespace firstlayer::gradient_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::gradient_kernels {

HWY_EXPORT(sum_float_parts);
HWY_EXPORT(sum_bfloat16_parts);
HWY_EXPORT(sum_float16_parts);
HWY_EXPORT(sum_batch_columns);

template <class Element>
void sum_groups(const RowGroups& groups, const Element* dout, std::size_t dim, float* rows, unsigned threads) {
  const GroupPieces pieces(groups, dim);
  parallel_for(pieces.work(), threads, [&](std::size_t from, std::size_t to) {
    if constexpr (std::is_same_v<Element, float>) {
      HWY_DYNAMIC_DISPATCH(sum_float_parts)(groups, pieces, dout, dim, rows, from, to);
    } else if constexpr (std::is_same_v<Element, BFloat16>) {
      HWY_DYNAMIC_DISPATCH(sum_bfloat16_parts)(groups, pieces, dout, dim, rows, from, to);
    } else {
      HWY_DYNAMIC_DISPATCH(sum_float16_parts)(groups, pieces, dout, dim, rows, from, to);
    }
  });
}
template void sum_groups(const RowGroups&, const float*, std::size_t, float*, unsigned);
template void sum_groups(const RowGroups&, const BFloat16*, std::size_t, float*, unsigned);
template void sum_groups(const RowGroups&, const Float16*, std::size_t, float*, unsigned);

void sum_batch(const float* dout, std::size_t batch, std::size_t columns, float* sums, unsigned threads) {
  constexpr std::size_t kPart = 256;  // columns, so that no block is cut
  parallel_for((columns + kPart - 1) / kPart, threads, [&](std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(sum_batch_columns)(dout, batch, columns, sums, from * kPart, std::min(columns, to * kPart));
  });
}

}  // namespace firstlayer::gradient_kernels
#endif  // HWY_ONCE
