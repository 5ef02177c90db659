// The dot products with AVX2, whose instruction for bytes adds pairs of products in 16 bits: a query of at most
// kPairLimit keeps them there. By hand: the Highway of Debian 12 cannot say it.

#include "firstlayer/view/byte_dots.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define FIRSTLAYER_BYTES __attribute__((target("avx2")))

namespace firstlayer::byte_dots {
namespace {

static_assert(2 * 255 * kPairLimit <= 32767);

/// Four columns of eight rows.
struct Bytes {
  using Vector = __m256i;
  static constexpr std::size_t kVectorBytes = sizeof(Vector);

  FIRSTLAYER_BYTES static Vector repeat(std::int32_t x) { return _mm256_set1_epi32(x); }
  FIRSTLAYER_BYTES static Vector load(const std::uint8_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const Vector*>(at));
  }
  FIRSTLAYER_BYTES static Vector add_products(Vector sums, Vector rows, Vector columns) {
    const Vector pairs = _mm256_maddubs_epi16(rows, columns);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  FIRSTLAYER_BYTES static void store(std::int32_t* out, Vector sums) {
    _mm256_storeu_si256(reinterpret_cast<Vector*>(out), sums);
  }
};

}  // namespace
}  // namespace firstlayer::byte_dots

#include "firstlayer/view/byte_dots-inl.h"

namespace firstlayer::byte_dots {

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

FIRSTLAYER_BYTES void run_avx2(const Job& job) {
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
