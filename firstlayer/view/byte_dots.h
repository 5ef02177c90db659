#pragma once
// Dot products of rows and queries of 8-bit integers, which are exact and the same on every processor. Internal to the
// library: what a scan looks at before it looks at floats.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace firstlayer::byte_dots {

/// Rows lie in blocks of 16, and in a block by four columns at a time: value k of row r is at
/// (r / 16 * quads + k / 4) * 64 + r % 16 * 4 + k % 4, where quads = ceil(d / 4). So a register holds four columns of
/// 16 rows, four columns of a query meet it as they are, and no sum crosses lanes.
inline constexpr std::size_t kBlockRows = 16;
inline constexpr std::size_t kQuad = 4;
inline constexpr std::size_t kBlockBytes = kBlockRows * kQuad;  ///< of one quad

/// A value q of -127 .. 127 in a row is kept as q + kZero: the processors' instruction multiplies a byte without sign
/// by one with.
inline constexpr int kZero = 128;

/// The largest magnitude of a number in a row, and in a query where the kernel takes as much: otherwise it takes
/// kPairLimit, for the sum of two products of 255 and that fits 16 bits.
inline constexpr int kByteLimit = 127;
inline constexpr int kPairLimit = 63;

/// The widest row whose dot products fit 32 bits: 127 * 127 * d.
inline constexpr std::size_t kWidest = 131072;

/// Queries that are worked on together.
inline constexpr std::size_t kGroup = 12;

struct Job {
  const std::uint8_t* rows;  ///< the first of `blocks` blocks
  std::size_t blocks;
  std::size_t quads;
  const std::int8_t* queries;       ///< (count, quads * 4), up to the kernel's limit, zero behind column d
  const std::int32_t* zero_shares;  ///< (count,) kZero * the sum of a query: what its dot products have too much
  std::size_t count;                ///< of the queries, at most kGroup
  std::int32_t* out;                ///< (count, blocks * 16)
};

/// out[q, r] = sum over k of row[r, k] * query[q, k].
void run_reference(const Job& job);

/// One way to do it, with its name.
struct Kernel {
  std::string_view name;
  void (*run)(const Job& job);
  int query_limit;  ///< the largest magnitude of a number in a query
};

/// All that this processor can run, the fastest first.
std::span<const Kernel> kernels();

// byte_dots_vnni.cpp
bool has_vnni();
void run_vnni(const Job& job);

// byte_dots_avx2.cpp
bool has_avx2();
void run_avx2(const Job& job);

}  // namespace firstlayer::byte_dots
