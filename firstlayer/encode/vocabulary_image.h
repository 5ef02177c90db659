#pragma once
// A vocabulary laid out so that it is used where it lies: one block of words, compiled in or built at run time. The
// same builder makes both.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// The two ids that a token is merged from.
struct MergedPair {
  TokenId left;
  TokenId right;
};

/// First words of an image; the sections follow, each from a whole word on. Offsets count words from the start.
struct VocabularyHeader {
  std::uint64_t tokens;            ///< ids 0 .. tokens - 1, special tokens not among them
  std::uint64_t merge_slots_log2;  ///< size of the merge table
  std::uint64_t bytes_begin;       ///< section: the bytes of all tokens, one after the other
  std::uint64_t ends_begin;        ///< section: u32 for each token, where its bytes end
  std::uint64_t byte_ids_begin;    ///< section: u32 for each byte value, the id of that byte alone
  std::uint64_t joins_begin;       ///< section: 256 x 256 bits, whether some token holds byte b right after byte a
  std::uint64_t merges_begin;      ///< section: u64 for each slot, see merge_entry()
  std::uint64_t longest;           ///< bytes of the longest token
};

/// An entry of the merge table: left, right and merged id, 21 bits each. kEmptyMerge marks a free slot.
inline constexpr unsigned kIdBits = 21;
inline constexpr std::uint64_t kEmptyMerge = ~std::uint64_t{0};
constexpr std::uint64_t merge_key(TokenId left, TokenId right) { return std::uint64_t{left} << kIdBits | right; }
constexpr std::uint64_t merge_entry(std::uint64_t key, TokenId merged) { return key << kIdBits | merged; }

/// The slot where the search for a pair starts; it goes on upwards, around the end, to the first free slot.
constexpr std::size_t merge_slot(std::uint64_t key, std::uint64_t slots_log2) {
  std::uint64_t mixed = key * 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 >> (64 - slots_log2));
}

/// Token i < 256 is byte_order[i] alone; token 256 + i is merges[i], and merges come in the order in which they are
/// applied. Throws std::invalid_argument naming the merge for a pair of ids that are not below its own, for a
/// repeated byte, and for more than 2^21 - 1 tokens or 4 GiB of token bytes.
std::vector<std::uint64_t> build_vocabulary_image(std::span<const std::uint8_t, 256> byte_order,
                                                  std::span<const MergedPair> merges);

}  // namespace firstlayer
