// The dot products of bytes, whatever the instructions. A kernel includes this once, after it has defined
// FIRSTLAYER_BYTES, the attribute that allows its instructions, and Bytes, what they do with a vector of rows. The
// attribute stands on every function, since a function inlines only into one with the same instructions. Internal to
// the library.

#include <cstring>

#include "firstlayer/view/byte_dots.h"

namespace firstlayer::byte_dots {
namespace {  // NOLINT(google-build-namespaces): each kernel needs functions of its own

/// Queries [first, first + kCount) with blocks [block, block + kBlocks): all of their sums are in registers.
template <std::size_t kCount, std::size_t kBlocks>
FIRSTLAYER_BYTES void run_tile(const Job& job, std::size_t first, std::size_t block) {
  constexpr std::size_t kOfBlock = kBlockBytes / Bytes::kVectorBytes;
  constexpr std::size_t kVectors = kBlocks * kOfBlock;
  Bytes::Vector sums[kCount][kVectors];
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kCount; ++q) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) sums[q][v] = Bytes::repeat(-job.zero_shares[first + q]);
  }
  const std::uint8_t* bytes = job.rows + block * job.quads * kBlockBytes;
  const std::int8_t* query = job.queries + first * job.quads * kQuad;
  for (std::size_t quad = 0; quad < job.quads; ++quad) {
    Bytes::Vector rows[kVectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      rows[v] =
          Bytes::load(bytes + (v / kOfBlock * job.quads + quad) * kBlockBytes + v % kOfBlock * Bytes::kVectorBytes);
    }
#pragma GCC unroll 12
    for (std::size_t q = 0; q < kCount; ++q) {
      std::int32_t four = 0;
      std::memcpy(&four, query + (q * job.quads + quad) * kQuad, sizeof(four));
      const Bytes::Vector columns = Bytes::repeat(four);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) sums[q][v] = Bytes::add_products(sums[q][v], rows[v], columns);
    }
  }
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kCount; ++q) {
    std::int32_t* out = job.out + ((first + q) * job.blocks + block) * kBlockRows;
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) Bytes::store(out + v * (kBlockRows / kOfBlock), sums[q][v]);
  }
}

/// kBlocks blocks at a time, then the rest one by one.
template <std::size_t kCount, std::size_t kBlocks>
FIRSTLAYER_BYTES void run_queries(const Job& job, std::size_t first) {
  std::size_t block = 0;
  for (; block + kBlocks <= job.blocks; block += kBlocks) run_tile<kCount, kBlocks>(job, first, block);
  for (; block < job.blocks; ++block) run_tile<kCount, 1>(job, first, block);
}

}  // namespace
}  // namespace firstlayer::byte_dots
