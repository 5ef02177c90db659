#include "firstlayer/view/sum_scorer.h"

#include <cmath>
#include <span>

#include "firstlayer/view/exact_sums.h"

namespace firstlayer {

double rank_key(Metric metric, double sum, double row_norm, double query_norm) {
  switch (metric) {
    case Metric::kCosine:
      return row_norm > 0 && query_norm > 0 ? sum / (row_norm * query_norm) : 0.0;
    case Metric::kDot:
      return sum;
    case Metric::kL2:
      break;
  }
  return -std::sqrt(sum);
}

std::size_t SumScorer::collect(std::size_t question, const std::int32_t* dots, std::size_t /*stride*/,
                               const RowRange& rows, float floor, Candidate* out) const {
  return collect_sums(dots, rows, queries_.factors(question), floor, out);
}

/// In units of the row's length and the query's, less what float32 is too coarse for.
float SumScorer::floor(std::size_t question, double key) const {
  constexpr double kLeast = 1e-30;
  if (std::isinf(key)) return rounded_down(key);
  if (rows_.metric() == Metric::kCosine) return rounded_down(key - kLeast);
  const double units = rows_.unit() * queries_.unit(question);
  if (rows_.metric() == Metric::kDot) return rounded_down(key / units - kLeast);
  // |x - y|^2 = |x|^2 - 2 x.y + |y|^2, where each square is off by 2^-36 of itself at most.
  constexpr double kShare = 0x1p-36;
  const double y = queries_.norm(question) * queries_.norm(question);
  const double distance = key * key;
  return rounded_down(((y - distance) / 2 - kShare * (y + distance)) / units - kLeast);
}

double SumScorer::key(std::size_t question, TokenId row) const {
  const std::span<const float> x = rows_.table()[row];
  const std::span<const float> y = queries_.values(question);
  const Metric metric = rows_.metric();
  const double sum = metric == Metric::kL2 ? exact_sums::squared_distance(x, y) : exact_sums::dot(x, y);
  return rank_key(metric, sum, rows_.norm(row), queries_.norm(question));
}

}  // namespace firstlayer
