#pragma once
// The nearest rows of a table: exact, over all of it, for one vector or many.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

class ByteRows;

enum class Metric {
  kCosine,  ///< x.y / (|x| |y|); 0 where either is zero
  kDot,     ///< x.y
  kL2,      ///< |x - y|, the least first
};

/// "cosine", "dot" or "l2".
std::string_view metric_name(Metric metric);

struct Neighbor {
  TokenId id;
  double score;  ///< the cosine, the dot product or the distance
};

struct NeighborOptions {
  std::size_t count = 10;                           ///< fewer are found where fewer rows are allowed
  std::vector<TokenId> excluded{};                  ///< never among the neighbours
  std::optional<std::vector<TokenId>> only{};       ///< if set, no others are
  std::vector<std::vector<TokenId>> excluded_of{};  ///< empty, or for each query of a batch what it excludes as well
  unsigned threads = 0;                             ///< 0: all; the neighbours are the same for any number
};

/// A table (V, d) made ready to be searched: a copy in 8 bits is scanned first, and only rows that it cannot rule out
/// are scored in full. The result is that of scoring every row.
///
/// Scores are sums in float64 of products of the table's float32 numbers, in one order everywhere (exact_sums.h says
/// which), so they have the same bits on every processor. Equal scores are ordered by id, the lowest first.
class NeighborTable {
 public:
  /// Reads `table`, which must stay where it is and as it is, on `threads` threads, 0: all; takes V * (d + 24) bytes.
  /// Throws std::invalid_argument for an empty table, for rows of more than 131,072 numbers, and for one that is not
  /// finite: [NeighborTable] expected finite numbers, received nan at table[7, 3]
  explicit NeighborTable(View<const float, 2> table, Metric metric = Metric::kCosine, unsigned threads = 0);
  NeighborTable(NeighborTable&& other) noexcept;
  NeighborTable& operator=(NeighborTable&& other) noexcept;
  ~NeighborTable();

  const Shape<2>& shape() const noexcept;  ///< (V, d)
  Metric metric() const noexcept;

  /// The nearest rows of `query` (d,), nearest first; a row of the table finds itself. Throws std::invalid_argument if
  /// options.count is 0, the query has another width or a number that is not finite, std::out_of_range naming an id of
  /// the options that is no row.
  std::vector<Neighbor> find(std::span<const float> query, const NeighborOptions& options = {}) const;

  /// The same for each of queries (Q, d), in one pass over the table for all.
  std::vector<std::vector<Neighbor>> find(View<const float, 2> queries, const NeighborOptions& options = {}) const;

  /// The score of one row. Throws as find(), and std::out_of_range.
  double score(std::span<const float> query, TokenId row) const;

  /// For the library's own use.
  const ByteRows& rows() const noexcept { return *rows_; }

 private:
  std::unique_ptr<const ByteRows> rows_;
};

/// The definition of find(), to be read and to be compared with: every row is scored on one thread.
std::vector<Neighbor> find_neighbors_reference(View<const float, 2> table, Metric metric, std::span<const float> query,
                                               const NeighborOptions& options = {});

}  // namespace firstlayer
