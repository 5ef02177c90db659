// The gradient of a looked-up row, summed in registers and handed on before it meets memory. Included by kernels once
// for each instruction set. Internal to the library.

#if defined(FIRSTLAYER_LOOKUP_GROUP_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_GROUP_SUM_INL_H_
#undef FIRSTLAYER_LOOKUP_GROUP_SUM_INL_H_
#else
#define FIRSTLAYER_LOOKUP_GROUP_SUM_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "firstlayer/base/half.h"
#include "firstlayer/lookup/group_pieces.h"
#include "firstlayer/lookup/row_groups.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows that a kernel will want for its groups: row i of a table or of a state, `stride` floats after row i - 1.
struct RowMemory {
  const float* data;
  std::size_t stride;
};

/// Registers that hold sums: half of what the processor has.
inline constexpr std::size_t kSums = HWY_TARGET <= HWY_AVX3 ? 16 : 8;
inline constexpr std::size_t kLineFloats = 64 / sizeof(float);

/// Into the second-level cache: its queue of open requests is longer than the first level's, which stores need too.
HWY_INLINE void fetch(const void* data) { __builtin_prefetch(data, 0, 2); }

template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag df, const float* from) {
  return hn::LoadU(df, from);
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag df, const BFloat16* from) {
  const hn::Rebind<std::uint16_t, Tag> du16;
  const hn::RebindToUnsigned<Tag> du32;
  const auto bits = hn::LoadU(du16, reinterpret_cast<const std::uint16_t*>(from));
  return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du32, bits)));
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag df, const Float16* from) {
  const hn::Rebind<hwy::float16_t, Tag> df16;
  const hn::Rebind<std::uint16_t, Tag> du16;
  return hn::PromoteTo(df, hn::BitCast(df16, hn::LoadU(du16, reinterpret_cast<const std::uint16_t*>(from))));
}

/// Sums columns [k, k + kCount vectors) of group u's rows of dout (places, dim), from zero and in ascending order of
/// places as PyTorch does, and hands each sum on: use(df, u, k, sum). Numbers of 16 bits are added as floats.
template <std::size_t kCount, class Tag, class Element, std::size_t kMemories, class Use>
HWY_INLINE void sum_block(Tag df, const RowGroups& groups, const Element* dout, std::size_t dim, std::size_t u,
                          std::size_t k, const std::array<RowMemory, kMemories>& wanted, Use& use) {
  constexpr std::size_t kPlacesAhead = 4;
  constexpr std::size_t kGroupsAhead = 2;
  const std::size_t lanes = hn::Lanes(df);
  const std::uint32_t* places = groups.places().data();
  const std::size_t begin = groups.starts()[u];
  const std::size_t end = groups.starts()[u + 1];
  const auto starts_line = [&](std::size_t j) { return kCount > 1 && j * lanes % kLineFloats == 0; };

  const std::size_t next = std::min(u + kGroupsAhead, groups.size() - 1);
  const Element* next_row = dout + places[groups.starts()[next]] * dim + k;
  const Element* row = dout + places[begin] * dim + k;
  hn::Vec<Tag> sums[kCount];
  for (std::size_t j = 0; j < kCount; ++j) {
    sums[j] = hn::Add(hn::Zero(df), load(df, row + j * lanes));
    if (starts_line(j)) fetch(next_row + j * lanes);
  }
  for (std::size_t i = begin + 1; i < end; ++i) {
    row = dout + places[i] * dim + k;
    const Element* ahead = dout + places[std::min(i + kPlacesAhead, end - 1)] * dim + k;
    for (std::size_t j = 0; j < kCount; ++j) {
      sums[j] = hn::Add(sums[j], load(df, row + j * lanes));
      if (starts_line(j)) fetch(ahead + j * lanes);
    }
  }
  std::array<const float*, kMemories> next_rows;
  for (std::size_t i = 0; i < kMemories; ++i) next_rows[i] = wanted[i].data + groups.ids()[next] * wanted[i].stride + k;
  HWY_UNROLL(4) for (std::size_t j = 0; j < kCount; ++j) {
    if (starts_line(j)) {
      for (const float* next_wanted : next_rows) fetch(next_wanted + j * lanes);
    }
    use(df, u, k + j * lanes, sums[j]);
  }
}

/// Hands the gradient of columns [begin, end) of group u on in vectors: use(df, u, k, sum), where df is a tag of as
/// many lanes as the sum has. `wanted` are the rows that `use` reads: those of a later group are fetched meanwhile.
template <class Element, std::size_t kMemories, class Use>
HWY_INLINE void sum_columns(const RowGroups& groups, const Element* dout, std::size_t dim, std::size_t u,
                            std::size_t begin, std::size_t end, const std::array<RowMemory, kMemories>& wanted,
                            Use use) {
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t k = begin;
  for (; k + kSums * lanes <= end; k += kSums * lanes) sum_block<kSums>(df, groups, dout, dim, u, k, wanted, use);
  for (; k + lanes <= end; k += lanes) sum_block<1>(df, groups, dout, dim, u, k, wanted, use);
  for (; k < end; ++k) sum_block<1>(one, groups, dout, dim, u, k, wanted, use);
}

}  // namespace firstlayer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
