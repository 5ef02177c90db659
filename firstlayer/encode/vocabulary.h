#pragma once
// What a byte-pair vocabulary answers: the bytes of a token, the id of a byte, what two tokens merge to.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/vocabulary_image.h"

namespace firstlayer {

/// No token; larger than every id, so that the least of several merges is the one to apply first.
inline constexpr TokenId kNoToken = ~TokenId{0};

/// Reads a vocabulary image, which must outlive it. As cheap to copy as a few pointers. Ids are not checked.
class Vocabulary {
 public:
  explicit Vocabulary(std::span<const std::uint64_t> image) {
    std::memcpy(&header_, image.data(), sizeof(header_));
    auto section = [&](std::uint64_t begin) { return static_cast<const void*>(image.data() + begin); };
    bytes_ = static_cast<const char*>(section(header_.bytes_begin));
    ends_ = static_cast<const std::uint32_t*>(section(header_.ends_begin));
    byte_ids_ = static_cast<const TokenId*>(section(header_.byte_ids_begin));
    joins_ = image.data() + header_.joins_begin;
    merges_ = image.data() + header_.merges_begin;
  }

  /// Tokens, special ones not counted.
  std::size_t size() const { return static_cast<std::size_t>(header_.tokens); }

  /// Bytes of the longest token.
  std::size_t longest() const { return static_cast<std::size_t>(header_.longest); }

  std::string_view token_bytes(TokenId id) const {
    std::uint32_t begin = id == 0 ? 0 : ends_[id - 1];
    return {bytes_ + begin, ends_[id] - begin};
  }

  TokenId byte_token(unsigned char byte) const { return byte_ids_[byte]; }

  /// The token that `left` followed by `right` merges to, or kNoToken. A lower id is merged first.
  TokenId merged(TokenId left, TokenId right) const {
    std::uint64_t key = merge_key(left, right);
    std::size_t mask = (std::size_t{1} << header_.merge_slots_log2) - 1;
    std::size_t slot = merge_slot(key, header_.merge_slots_log2);
    for (;; slot = (slot + 1) & mask) {
      std::uint64_t entry = merges_[slot];
      if (entry >> kIdBits == key) return static_cast<TokenId>(entry & ((std::uint64_t{1} << kIdBits) - 1));
      if (entry == kEmptyMerge) return kNoToken;
    }
  }

  /// Whether some token holds byte `right` directly after byte `left`. Where none does, no merge crosses the place.
  bool joins(unsigned char left, unsigned char right) const {
    unsigned pair = static_cast<unsigned>(left) << 8 | right;
    return (joins_[pair / 64] >> (pair % 64) & 1) != 0;
  }

  /// The first place after `from` that no token crosses, or the end of the piece; from < piece.size().
  std::size_t uncrossed_place(std::string_view piece, std::size_t from) const {
    std::size_t to = from + 1;
    while (to < piece.size() &&
           joins(static_cast<unsigned char>(piece[to - 1]), static_cast<unsigned char>(piece[to]))) {
      ++to;
    }
    return to;
  }

 private:
  VocabularyHeader header_;
  const char* bytes_;
  const std::uint32_t* ends_;
  const TokenId* byte_ids_;
  const std::uint64_t* joins_;
  const std::uint64_t* merges_;
};

}  // namespace firstlayer
