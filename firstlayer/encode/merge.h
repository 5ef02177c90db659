#pragma once
// The merges of one piece, fast: same ids as merge_reference() in reference.h.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/vocabulary.h"

namespace firstlayer {

/// Reuses its memory from piece to piece, so make one for each thread.
class Merger {
 public:
  explicit Merger(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  /// Writes the ids of `piece` to `out`, which has room for one id a byte; returns how many there are. Time is near
  /// linear in the length of the piece, memory 24 bytes a byte of it at most. Throws std::length_error for a piece
  /// that no place splits (see Vocabulary::joins) for 4 GiB.
  std::size_t merge(std::string_view piece, TokenId* out);

 private:
  std::size_t merge_short(std::string_view piece, TokenId* out) const;
  std::size_t merge_long(std::string_view piece, TokenId* out);
  void offer(std::uint32_t left);

  /// A part of the piece in a doubly linked list; its index is the offset of its first byte.
  struct Part {
    TokenId id;
    std::uint32_t previous;
    std::uint32_t next;
    TokenId merged;  ///< what it and the next part merge to, or kNoToken
  };

  Vocabulary vocabulary_;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> heap_;  ///< merged id << 32 | index of the left part; least on top
};

}  // namespace firstlayer
