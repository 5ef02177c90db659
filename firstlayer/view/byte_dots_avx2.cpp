// The dot products with AVX2, whose instruction for bytes adds pairs of products in 16 bits: a query of at most
// kPairLimit keeps them there. By hand: the Highway of Debian 12 cannot say it.

#include "firstlayer/view/byte_dots.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

// The attribute stands on every function, since a function inlines only into one with the same instructions.
#define FIRSTLAYER_AVX2 __attribute__((target("avx2")))

namespace firstlayer::byte_dots {
namespace {

static_assert(2 * 255 * kPairLimit <= 32767);

constexpr std::size_t kVectorBytes = 32;  ///< four columns of eight rows
constexpr std::size_t kVectorRows = kVectorBytes / kQuad;
constexpr std::size_t kHalves = kBlockBytes / kVectorBytes;

/// Queries [first, first + kCount) with blocks [block, block + kBlocks).
template <std::size_t kCount, std::size_t kBlocks>
FIRSTLAYER_AVX2 void run_tile(const Job& job, std::size_t first, std::size_t block) {
  constexpr std::size_t kVectors = kBlocks * kHalves;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kCount][kVectors];
#pragma GCC unroll 6
  for (std::size_t q = 0; q < kCount; ++q) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) sums[q][v] = _mm256_set1_epi32(-job.zero_shares[first + q]);
  }
  const std::uint8_t* bytes = job.rows + block * job.quads * kBlockBytes;
  const std::int8_t* query = job.queries + first * job.quads * kQuad;
  for (std::size_t quad = 0; quad < job.quads; ++quad) {
    __m256i rows[kVectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::uint8_t* at = bytes + (v / kHalves * job.quads + quad) * kBlockBytes + v % kHalves * kVectorBytes;
      rows[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    }
#pragma GCC unroll 6
    for (std::size_t q = 0; q < kCount; ++q) {
      int four = 0;
      std::memcpy(&four, query + (q * job.quads + quad) * kQuad, sizeof(four));
      const __m256i columns = _mm256_set1_epi32(four);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) {
        const __m256i pairs = _mm256_maddubs_epi16(rows[v], columns);
        sums[q][v] = _mm256_add_epi32(sums[q][v], _mm256_madd_epi16(pairs, ones));
      }
    }
  }
#pragma GCC unroll 6
  for (std::size_t q = 0; q < kCount; ++q) {
    std::int32_t* out = job.out + ((first + q) * job.blocks + block) * kBlockRows;
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + v * kVectorRows), sums[q][v]);
    }
  }
}

/// kBlocks blocks at a time, then the rest one by one.
template <std::size_t kCount, std::size_t kBlocks>
FIRSTLAYER_AVX2 void run_queries(const Job& job, std::size_t first) {
  std::size_t block = 0;
  for (; block + kBlocks <= job.blocks; block += kBlocks) run_tile<kCount, kBlocks>(job, first, block);
  for (; block < job.blocks; ++block) run_tile<kCount, 1>(job, first, block);
}

}  // namespace

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

FIRSTLAYER_AVX2 void run_avx2(const Job& job) {
  std::size_t first = 0;
  for (; first + 6 <= job.count; first += 6) run_queries<6, 1>(job, first);
  for (; first + 3 <= job.count; first += 3) run_queries<3, 2>(job, first);
  for (; first < job.count; ++first) run_queries<1, 4>(job, first);
}

}  // namespace firstlayer::byte_dots

#else

namespace firstlayer::byte_dots {

bool has_avx2() { return false; }
void run_avx2(const Job& job) { run_reference(job); }

}  // namespace firstlayer::byte_dots

#endif
