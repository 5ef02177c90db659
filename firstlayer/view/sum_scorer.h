#pragma once
// How near a row is to one query, by each metric. Internal to the library.

#include <cstddef>
#include <cstdint>

#include "firstlayer/view/neighbor_scan.h"

namespace firstlayer {

/// What rows are ranked by, a larger key being nearer: the score, or the distance below zero. `sum` is the dot product,
/// or for kL2 the squared distance.
double rank_key(Metric metric, double sum, double row_norm, double query_norm);

/// One query, one sum a row.
class SumScorer final : public Scorer {
 public:
  /// Both must outlive it.
  SumScorer(const ByteRows& rows, const ByteQueries& queries) : rows_(rows), queries_(queries) {}

  std::size_t vectors() const override { return 1; }
  std::size_t collect(std::size_t question, const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                      float floor, Candidate* out) const override;
  float floor(std::size_t question, double key) const override;
  double key(std::size_t question, TokenId row) const override;

 private:
  const ByteRows& rows_;
  const ByteQueries& queries_;
};

}  // namespace firstlayer
