// The dot products in 16 bits: bytes are widened, and pairs of products are added as they are made. docs/neighbors.md
// has what each step gains.

#include "firstlayer/view/byte_dots.h"

#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/view/byte_dots.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::byte_dots::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::int16_t>;
using Sums = hn::RepartitionToWide<Words>;

constexpr std::size_t kVectors = kBlockBytes / hn::MaxLanes(Words());  ///< of 16-bit values in four columns of a block
constexpr std::size_t kAtOnce = kVectors == 2 ? 8 : 2;                 ///< queries whose sums fit the registers

/// Queries [first, first + kCount) with one block.
template <std::size_t kCount>
HWY_INLINE void run_block(const Job& job, std::size_t first, std::size_t block) {
  const Words dw;
  const hn::Rebind<std::uint8_t, Words> db;
  const hn::Repartition<std::int64_t, Words> quads_of;
  const Sums ds;
  hn::Vec<Sums> sums[kCount][kVectors];
  for (auto& of_query : sums) {
    for (auto& sum : of_query) sum = hn::Zero(ds);
  }
  auto unused = hn::Zero(ds);
  const std::uint8_t* bytes = job.rows + block * job.quads * kBlockBytes;
  for (std::size_t quad = 0; quad < job.quads; ++quad, bytes += kBlockBytes) {
    hn::Vec<Words> rows[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      rows[v] = hn::PromoteTo(dw, hn::LoadU(db, bytes + v * hn::Lanes(dw)));
    }
    for (std::size_t q = 0; q < kCount; ++q) {
      std::int64_t four = 0;
      std::memcpy(&four, job.wide_queries + ((first + q) * job.quads + quad) * kQuad, sizeof(four));
      const auto columns = hn::BitCast(dw, hn::Set(quads_of, four));
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[q][v] = hn::ReorderWidenMulAccumulate(ds, rows[v], columns, sums[q][v], unused);
      }
    }
  }
  for (std::size_t q = 0; q < kCount; ++q) {
    alignas(64) std::array<std::uint32_t, 2 * kBlockRows> pairs;
    const hn::RebindToUnsigned<Sums> du;
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::Store(hn::BitCast(du, sums[q][v]), du, pairs.data() + v * hn::Lanes(ds));
    }
    // What the shares are taken from may not fit 32 bits with a sign; the difference does.
    const auto share = static_cast<std::uint32_t>(job.zero_shares[first + q]);
    std::int32_t* out = job.out + ((first + q) * job.blocks + block) * kBlockRows;
    for (std::size_t r = 0; r < kBlockRows; ++r) {
      out[r] = static_cast<std::int32_t>(pairs[2 * r] + pairs[2 * r + 1] - share);
    }
  }
}

void run_target(const Job& job) {
  std::size_t first = 0;
  for (; first + kAtOnce <= job.count; first += kAtOnce) {
    for (std::size_t block = 0; block < job.blocks; ++block) run_block<kAtOnce>(job, first, block);
  }
  for (; first < job.count; ++first) {
    for (std::size_t block = 0; block < job.blocks; ++block) run_block<1>(job, first, block);
  }
}

#else

void run_target(const Job& job) { run_reference(job); }

#endif

}  // namespace firstlayer::byte_dots::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::byte_dots {

HWY_EXPORT(run_target);

void run_wide(const Job& job) { HWY_DYNAMIC_DISPATCH(run_target)(job); }

std::span<const Kernel> kernels() {
  static constexpr std::array<Kernel, 3> kAll{{{"vnni", run_vnni}, {"wide", run_wide}, {"reference", run_reference}}};
  static const bool vnni = has_vnni();
  return std::span(kAll).subspan(vnni ? 0 : 1);
}

void run(const Job& job) { kernels().front().run(job); }

}  // namespace firstlayer::byte_dots
#endif  // HWY_ONCE
