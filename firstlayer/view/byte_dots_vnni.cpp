// The dot products with AVX-512 VNNI, which multiplies and adds four bytes in each lane at once. By hand: the Highway
// of Debian 12 cannot say it.

#include "firstlayer/view/byte_dots.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

// The attribute stands on every function, since a function inlines only into one with the same instructions.
#define FIRSTLAYER_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace firstlayer::byte_dots {
namespace {

/// Queries [first, first + kCount) with blocks [block, block + kBlocks).
template <std::size_t kCount, std::size_t kBlocks>
FIRSTLAYER_VNNI void run_tile(const Job& job, std::size_t first, std::size_t block) {
  __m512i sums[kCount][kBlocks];
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kCount; ++q) {
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kBlocks; ++b) sums[q][b] = _mm512_set1_epi32(-job.zero_shares[first + q]);
  }
  const std::uint8_t* bytes = job.rows + block * job.quads * kBlockBytes;
  const std::int8_t* query = job.queries + first * job.quads * kQuad;
  for (std::size_t quad = 0; quad < job.quads; ++quad) {
    __m512i rows[kBlocks];
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kBlocks; ++b) {
      rows[b] = _mm512_loadu_si512(bytes + (b * job.quads + quad) * kBlockBytes);
    }
#pragma GCC unroll 12
    for (std::size_t q = 0; q < kCount; ++q) {
      int four = 0;
      std::memcpy(&four, query + (q * job.quads + quad) * kQuad, sizeof(four));
      const __m512i columns = _mm512_set1_epi32(four);
#pragma GCC unroll 4
      for (std::size_t b = 0; b < kBlocks; ++b) sums[q][b] = _mm512_dpbusd_epi32(sums[q][b], rows[b], columns);
    }
  }
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kCount; ++q) {
    std::int32_t* out = job.out + ((first + q) * job.blocks + block) * kBlockRows;
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kBlocks; ++b) _mm512_storeu_si512(out + b * kBlockRows, sums[q][b]);
  }
}

/// kBlocks blocks at a time, then the rest one by one.
template <std::size_t kCount, std::size_t kBlocks>
FIRSTLAYER_VNNI void run_queries(const Job& job, std::size_t first) {
  std::size_t block = 0;
  for (; block + kBlocks <= job.blocks; block += kBlocks) run_tile<kCount, kBlocks>(job, first, block);
  for (; block < job.blocks; ++block) run_tile<kCount, 1>(job, first, block);
}

}  // namespace

bool has_vnni() { return __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bw") != 0; }

FIRSTLAYER_VNNI void run_vnni(const Job& job) {
  std::size_t first = 0;
  for (; first + 12 <= job.count; first += 12) run_queries<12, 2>(job, first);
  for (; first + 4 <= job.count; first += 4) run_queries<4, 4>(job, first);
  for (; first < job.count; ++first) run_queries<1, 4>(job, first);
}

}  // namespace firstlayer::byte_dots

#else

namespace firstlayer::byte_dots {

bool has_vnni() { return false; }
void run_vnni(const Job& job) { run_reference(job); }

}  // namespace firstlayer::byte_dots

#endif
