#pragma once
// The ids of pieces met before. A text repeats its pieces, so most of encoding is finding them here.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "firstlayer/base/buffer.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// A fixed table of 64-byte lines, two to a set; what is met again stays, the other makes room. A key is the piece
/// itself, so a hit is exact. Its memory is zero pages until it is used, and it never grows.
template <std::size_t KeyWords>
class PieceCache {
 public:
  /// The longest piece that fits: the key's last byte holds the length.
  static constexpr std::size_t kLongestPiece = KeyWords * 8 - 1;

  using Key = std::array<std::uint64_t, KeyWords>;

  /// One cache line. count is 0 in a free one.
  struct alignas(64) Line {
    static constexpr std::size_t kIds = (64 - sizeof(Key) - sizeof(std::uint32_t)) / sizeof(TokenId);
    Key key;
    std::uint32_t count;
    std::array<TokenId, kIds> ids;
  };
  static_assert(sizeof(Line) == 64);

  explicit PieceCache(unsigned sets_log2) : shift_(64 - sets_log2), lines_(sizeof(Line) * 2 << sets_log2) {}

  /// The key of a piece of at most kLongestPiece bytes. `readable_end` ends the memory that may be read.
  static Key make_key(std::string_view piece, const char* readable_end) {
    Key key{};
    if (piece.data() + sizeof(Key) <= readable_end) {
      std::memcpy(key.data(), piece.data(), sizeof(Key));
      std::size_t tail = piece.size();
      for (std::uint64_t& word : key) {
        std::size_t kept = tail < 8 ? tail : 8;
        word &= kept == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << kept * 8) - 1;
        tail -= kept;
      }
    } else {
      std::memcpy(key.data(), piece.data(), piece.size());
    }
    key.back() |= std::uint64_t{piece.size()} << 56;
    return key;
  }

  /// Where the set of a key begins, in lines.
  std::size_t set_of(const Key& key) const {
    std::uint64_t mixed = 0;
    for (std::uint64_t word : key) {
      mixed = (mixed ^ word) * 0x9E3779B97F4A7C15;
      mixed ^= mixed >> 32;
    }
    return static_cast<std::size_t>(mixed * 0xD6E8FEB86659FD93 >> shift_) * 2;
  }

  /// The line that holds `key`, or nullptr.
  const Line* find(const Key& key, std::size_t set) const {
    const Line* lines = static_cast<const Line*>(lines_.data()) + set;
    if (lines[0].key == key) return &lines[0];
    if (lines[1].key == key) return &lines[1];
    return nullptr;
  }

  /// Remembers `count` <= Line::kIds ids; what the set's second line held is forgotten.
  void insert(const Key& key, std::size_t set, const TokenId* ids, std::size_t count) {
    Line* lines = static_cast<Line*>(lines_.data()) + set;
    if (lines[0].count != 0) lines[1] = lines[0];
    lines[0].key = key;
    lines[0].count = static_cast<std::uint32_t>(count);
    std::memcpy(lines[0].ids.data(), ids, count * sizeof(TokenId));
  }

 private:
  unsigned shift_;
  Buffer lines_;
};

}  // namespace firstlayer
