#pragma once
// A batch of ids seen from the table: which rows it uses, and at which places each of them stands. The way back of a
// lookup, its optimizer and what must be current before a row is read all walk over this.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/id_view.h"

namespace firstlayer {

/// The places of ids (B, T), grouped by id. Group u holds the places of ids()[u]:
///   places()[starts()[u]] … places()[starts()[u + 1] - 1], ascending, each b * T + t.
/// assign() reuses its memory: once it has seen a batch as large, it allocates nothing.
class RowGroups {
 public:
  RowGroups() = default;
  /// assign() on a new object.
  RowGroups(IdView ids, std::size_t vocabulary, std::optional<TokenId> skipped = {}) {
    assign(ids, vocabulary, skipped);
  }

  /// Groups the ids of a table of `vocabulary` rows. The places of `skipped`, a padding id, are left out. Throws
  /// std::out_of_range naming an id that is no row and its (b, t); std::invalid_argument for 2^32 places or more. The
  /// groups are then as they were.
  void assign(IdView ids, std::size_t vocabulary, std::optional<TokenId> skipped = {});

  std::size_t vocabulary() const noexcept { return vocabulary_; }  ///< V
  const Shape<2>& batch() const noexcept { return batch_; }        ///< (B, T)

  std::size_t size() const noexcept { return ids_.size(); }                   ///< U, the number of groups
  std::span<const TokenId> ids() const noexcept { return ids_; }              ///< (U,) different ids, ascending
  std::span<const std::uint32_t> starts() const noexcept { return starts_; }  ///< (U + 1,)
  std::span<const std::uint32_t> places() const noexcept { return places_; }  ///< all places but the skipped ones

  /// How often ids()[u] stands in the batch.
  std::uint32_t count(std::size_t u) const { return starts_[u + 1] - starts_[u]; }

 private:
  std::size_t vocabulary_ = 0;
  Shape<2> batch_{};
  std::vector<TokenId> ids_;
  std::vector<std::uint32_t> starts_ = {0};
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> next_;  ///< (V,) the count of an id, then where its next place goes; zero between calls
  std::vector<std::uint64_t> used_;  ///< a bit for each id, set while it is in the batch; zero between calls
};

}  // namespace firstlayer
