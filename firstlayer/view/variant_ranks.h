#pragma once
// How near words that differ only in capitals and spaces before them lie in a table: " king" and "King". Nothing but
// what they are used for tells a model that they are one word.

#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/view/families.h"
#include "firstlayer/view/neighbors.h"

namespace firstlayer {

struct VariantRanks {
  std::size_t families = 0;  ///< that were looked at
  std::size_t tokens = 0;    ///< their members
  std::size_t pairs = 0;     ///< of a member and another of its family, both ways: each has a rank
  double mean = 0;           ///< of the ranks; 0 if there are none
  double median = 0;
  double chance = 0;  ///< the mean rank in a table of noise, V / 2
};

/// Among all other rows of the table by cosine, nearest first and of equal ones the lower id first, every member of a
/// family ranks each other member: 1 is the nearest of all. Members are the ids that occur, counts (V,) saying how
/// often; families of one such member are left out. The families that occur most come first, of those as frequent the
/// one with the lowest id, as many as have `most_tokens` members together: the work is most_tokens * V * d. The ranks
/// are those of scoring every row, for any number of `threads` (0: all). Throws std::invalid_argument unless the
/// metric is the cosine and the table, `families` and `counts` are of one V.
VariantRanks variant_ranks(const NeighborTable& table, const Families& families, std::span<const std::uint64_t> counts,
                           std::size_t most_tokens = 1000, unsigned threads = 0);

}  // namespace firstlayer
