#pragma once
// The ids of pieces met before. A text repeats its pieces, so most of encoding is finding them here.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "firstlayer/base/buffer.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// A fixed table of entries, two to a set; what is met again stays, the other makes room. A key is the piece itself, so
/// a hit is exact. Its memory is zero pages until it is used, and it never grows.
template <std::size_t KeyWords>
class PieceCache {
 public:
  /// The longest piece that fits: the key's last byte holds the length.
  static constexpr std::size_t kLongestPiece = KeyWords * 8 - 1;

  using Key = std::array<std::uint64_t, KeyWords>;

  /// A quarter key, the rest ids: one cache line for two words of key, two for four. count is 0 in a free entry.
  struct alignas(64) Entry {
    static constexpr std::size_t kIds = (4 * sizeof(Key) - sizeof(Key) - sizeof(std::uint32_t)) / sizeof(TokenId);
    Key key;
    std::uint32_t count;
    std::array<TokenId, kIds> ids;
  };
  static_assert(sizeof(Entry) == 4 * sizeof(Key));

  explicit PieceCache(unsigned sets_log2) : shift_(64 - sets_log2), entries_(sizeof(Entry) * 2 << sets_log2) {}

  /// The key of a piece of at most kLongestPiece bytes. `readable_end` ends the memory that may be read.
  static Key make_key(std::string_view piece, const char* readable_end) {
    Key key{};
    const char* const begin = piece.data();
    if (static_cast<std::size_t>(readable_end - begin) >= sizeof(Key)) {
      std::memcpy(key.data(), begin, sizeof(Key));
      Key mask;
      std::memcpy(mask.data(), kMasks.data() + sizeof(Key) - piece.size(), sizeof(Key));
      for (std::size_t i = 0; i < KeyWords; ++i) key[i] &= mask[i];
    } else {
      std::memcpy(key.data(), begin, piece.size());
    }
    key.back() |= std::uint64_t{piece.size()} << 56;
    return key;
  }

  /// Where the set of a key begins, in entries.
  std::size_t set_of(const Key& key) const {
    std::uint64_t mixed = 0;
    for (std::uint64_t word : key) {
      mixed = (mixed ^ word) * 0x9E3779B97F4A7C15;
      mixed ^= mixed >> 32;
    }
    return static_cast<std::size_t>(mixed * 0xD6E8FEB86659FD93 >> shift_) * 2;
  }

  /// Starts loading the set, so that a find() some hundred cycles later does not wait for it.
  void prefetch(std::size_t set) const {
    const Entry* entries = static_cast<const Entry*>(entries_.data()) + set;
    __builtin_prefetch(&entries[0]);
  }

  /// The entry that holds `key`, or nullptr.
  const Entry* find(const Key& key, std::size_t set) {
    Entry* entries = static_cast<Entry*>(entries_.data()) + set;
    if (equal(entries[0].key, key)) return &entries[0];
    if (!equal(entries[1].key, key)) return nullptr;
    std::swap(entries[0], entries[1]);  // met again: the next newcomer takes the other's place
    return &entries[0];
  }

  /// Remembers `count` <= Entry::kIds ids; what the set's second entry held is forgotten.
  void insert(const Key& key, std::size_t set, const TokenId* ids, std::size_t count) {
    Entry* entries = static_cast<Entry*>(entries_.data()) + set;
    Entry& entry = entries[entries[0].count == 0 ? 0 : 1];
    entry.key = key;
    entry.count = static_cast<std::uint32_t>(count);
    std::memcpy(entry.ids.data(), ids, count * sizeof(TokenId));
  }

 private:
  /// As ==, which compilers turn into a call of memcmp.
  static bool equal(const Key& a, const Key& b) {
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < KeyWords; ++i) difference |= a[i] ^ b[i];
    return difference == 0;
  }

  /// Ones, then zeros: read from sizeof(Key) - n on, it keeps the first n bytes of a key.
  static constexpr auto kMasks = [] {
    std::array<unsigned char, 2 * sizeof(Key)> masks{};
    for (std::size_t i = 0; i < sizeof(Key); ++i) masks[i] = 0xFF;
    return masks;
  }();

  unsigned shift_;
  Buffer entries_;
};

}  // namespace firstlayer
