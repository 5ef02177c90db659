// The dot products with AVX-512 VNNI, which multiplies and adds four bytes in each lane at once. By hand: the Highway
// of Debian 12 cannot say it.

#include "firstlayer/view/byte_dots.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define FIRSTLAYER_BYTES __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace firstlayer::byte_dots {
namespace {

/// Four columns of sixteen rows.
struct Bytes {
  using Vector = __m512i;
  static constexpr std::size_t kVectorBytes = sizeof(Vector);

  FIRSTLAYER_BYTES static Vector repeat(std::int32_t x) { return _mm512_set1_epi32(x); }
  FIRSTLAYER_BYTES static Vector load(const std::uint8_t* at) { return _mm512_loadu_si512(at); }
  FIRSTLAYER_BYTES static Vector add_products(Vector sums, Vector rows, Vector columns) {
    return _mm512_dpbusd_epi32(sums, rows, columns);
  }
  FIRSTLAYER_BYTES static void store(std::int32_t* out, Vector sums) { _mm512_storeu_si512(out, sums); }
};

}  // namespace
}  // namespace firstlayer::byte_dots

#include "firstlayer/view/byte_dots-inl.h"

namespace firstlayer::byte_dots {

bool has_vnni() { return __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bw") != 0; }

FIRSTLAYER_BYTES void run_vnni(const Job& job) {
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
