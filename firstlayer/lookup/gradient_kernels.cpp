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
#include "firstlayer/lookup/batch_sum-inl.h"
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

void sum_batch_part(const float* dout, std::size_t batch, std::size_t columns, float* sums, std::size_t begin,
                    std::size_t end) {
  groups_of::sum_batch_columns({dout, batch, columns}, begin, end,
                               [&](auto df, std::size_t c, auto sum) HWY_ATTR { hn::StoreU(sum, df, sums + c); });
}

}  // namespace firstlayer::gradient_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::gradient_kernels {

HWY_EXPORT(sum_float_parts);
HWY_EXPORT(sum_bfloat16_parts);
HWY_EXPORT(sum_float16_parts);
HWY_EXPORT(sum_batch_part);

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
    HWY_DYNAMIC_DISPATCH(sum_batch_part)(dout, batch, columns, sums, from * kPart, std::min(columns, to * kPart));
  });
}

}  // namespace firstlayer::gradient_kernels
#endif  // HWY_ONCE
