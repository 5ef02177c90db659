#pragma once
// Words that differ only in capital letters and in spaces before them: " king", "King" and " KING" are one family.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/view/neighbors.h"

namespace firstlayer {

/// `word` without spaces before it and with the capital letters A-Z made small; other bytes stay.
///   folded_word(" KING") == "king"
std::string folded_word(std::string_view word);

/// The words of a vocabulary by folded_word().
class Families {
 public:
  /// `word_of` gives the bytes of each of `vocabulary` ids.
  Families(std::size_t vocabulary, const std::function<std::string_view(TokenId)>& word_of);

  /// V, the ids.
  std::size_t size() const noexcept { return family_.size(); }

  /// Families, those of one member among them.
  std::size_t count() const noexcept { return begins_.size() - 1; }

  /// The number of an id's family. Throws std::out_of_range, as the next.
  std::uint32_t family_of(TokenId id) const;

  /// The ids of the family that `id` belongs to, ascending.
  std::span<const TokenId> members_of(TokenId id) const;

  /// `ids` and everybody in their families, ascending.
  std::vector<TokenId> with_families(std::span<const TokenId> ids) const;

 private:
  std::vector<std::uint32_t> family_;  ///< of each id; numbered by their lowest member
  std::vector<std::size_t> begins_;    ///< where a family begins in members_, and an end
  std::vector<TokenId> members_;
};

/// The nearest member of each of the `count` nearest families, nearest first. `search(n)` gives the nearest n rows of
/// those that may be found, fewer only if there are no more; it is asked for more until there are enough families.
std::vector<Neighbor> fold_neighbors(const Families& families, std::size_t count,
                                     const std::function<std::vector<Neighbor>(std::size_t)>& search);

}  // namespace firstlayer
