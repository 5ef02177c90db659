#include "firstlayer/view/neighbors.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/view/byte_rows.h"
#include "firstlayer/view/exact_sums.h"
#include "firstlayer/view/neighbor_scan.h"
#include "firstlayer/view/sum_scorer.h"

namespace firstlayer {
namespace {

constexpr const char* kFind = "NeighborTable::find";

/// Queries that are rounded and searched for together: what they take in memory stays small.
constexpr std::size_t kQueriesAtOnce = 2048;

double score_of(Metric metric, double key) { return metric == Metric::kL2 ? -key : key; }

std::vector<Neighbor> neighbors_of(Metric metric, const std::vector<Ranked>& ranked) {
  std::vector<Neighbor> neighbors;
  neighbors.reserve(ranked.size());
  for (const Ranked& row : ranked) neighbors.push_back({row.id, score_of(metric, row.key)});
  return neighbors;
}

void check_queries(const Shape<2>& table, View<const float, 2> queries, const NeighborOptions& options) {
  if (options.count == 0) throw_invalid(kFind, "a count of at least 1", "0");
  if (queries.shape()[1] != table[1]) {
    throw_invalid(kFind, "queries of width d = " + std::to_string(table[1]), std::to_string(queries.shape()[1]));
  }
  check_all_finite(kFind, "query", queries);
}

View<const float, 2> as_batch(std::span<const float> query) { return {query, {1, query.size()}}; }

}  // namespace

std::string_view metric_name(Metric metric) {
  switch (metric) {
    case Metric::kCosine:
      return "cosine";
    case Metric::kDot:
      return "dot";
    case Metric::kL2:
      break;
  }
  return "l2";
}

NeighborTable::NeighborTable(View<const float, 2> table, Metric metric, unsigned threads)
    : rows_(std::make_unique<const ByteRows>(table, metric, threads)) {}
NeighborTable::NeighborTable(NeighborTable&& other) noexcept = default;
NeighborTable& NeighborTable::operator=(NeighborTable&& other) noexcept = default;
NeighborTable::~NeighborTable() = default;

const Shape<2>& NeighborTable::shape() const noexcept { return rows_->shape(); }
Metric NeighborTable::metric() const noexcept { return rows_->metric(); }

std::vector<Neighbor> NeighborTable::find(std::span<const float> query, const NeighborOptions& options) const {
  return find(as_batch(query), options).front();
}

std::vector<std::vector<Neighbor>> NeighborTable::find(View<const float, 2> queries,
                                                       const NeighborOptions& options) const {
  check_queries(shape(), queries, options);
  const auto [Q, d] = queries.shape();
  const AllowedRows allowed(options, shape()[0], Q);
  const std::size_t count = std::min(options.count, shape()[0]);
  std::vector<std::vector<Neighbor>> found;
  found.reserve(Q);
  for (std::size_t first = 0; first < Q; first += kQueriesAtOnce) {
    const std::size_t some = std::min(kQueriesAtOnce, Q - first);
    const ByteQueries bytes({queries.flat().subspan(first * d, some * d), {some, d}}, *rows_);
    const SumScorer scorer(*rows_, bytes);
    for (const std::vector<Ranked>& ranked :
         scan(*rows_, bytes, some, scorer, allowed.from(first), count, options.threads)) {
      found.push_back(neighbors_of(metric(), ranked));
    }
  }
  return found;
}

double NeighborTable::score(std::span<const float> query, TokenId row) const {
  check_queries(shape(), as_batch(query), {});
  if (row >= shape()[0]) {
    throw_out_of_range("NeighborTable::score", "a row below V = " + std::to_string(shape()[0]), std::to_string(row));
  }
  const ByteQueries bytes(as_batch(query), *rows_);
  return score_of(metric(), SumScorer(*rows_, bytes).key(0, row));
}

std::vector<Neighbor> find_neighbors_reference(View<const float, 2> table, Metric metric, std::span<const float> query,
                                               const NeighborOptions& options) {
  check_queries(table.shape(), as_batch(query), options);
  const AllowedRows allowed(options, table.shape()[0], 1);
  const double query_norm = std::sqrt(exact_sums::dot_reference(query, query));
  std::vector<Ranked> all;
  for (std::size_t i = 0; i < table.shape()[0]; ++i) {
    const auto id = static_cast<TokenId>(i);
    if (!allowed.allows(0, id)) continue;
    const std::span<const float> row = table[i];
    const double row_norm = std::sqrt(exact_sums::dot_reference(row, row));
    const double sum = metric == Metric::kL2 ? exact_sums::squared_distance_reference(row, query)
                                             : exact_sums::dot_reference(row, query);
    all.push_back({rank_key(metric, sum, row_norm, query_norm), id});
  }
  std::sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) { return a.before(b); });
  all.resize(std::min(all.size(), options.count));
  return neighbors_of(metric, all);
}

}  // namespace firstlayer
