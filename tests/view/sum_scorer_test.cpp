#include "firstlayer/view/sum_scorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/view/hard_tables.h"

namespace firstlayer {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// The bounds of all rows for query `query`.
std::vector<Candidate> all_bounds(const ByteRows& rows, const ByteQueries& queries, const SumScorer& scorer,
                                  std::size_t query) {
  std::vector<std::int32_t> dots(rows.blocks() * byte_dots::kBlockRows);
  queries.multiply(query, 1, rows, 0, rows.blocks(), dots.data());
  std::vector<Candidate> found(dots.size());
  found.resize(scorer.collect(query, dots.data(), dots.size(), rows.rows_of(0, rows.blocks()), kNothing, found.data()));
  return found;
}

TEST(RankKey, IsLargerForWhatIsNearer) {
  EXPECT_EQ(rank_key(Metric::kCosine, 3.0, 2.0, 3.0), 0.5);
  EXPECT_EQ(rank_key(Metric::kCosine, 0.0, 0.0, 3.0), 0.0);
  EXPECT_EQ(rank_key(Metric::kCosine, 0.0, 3.0, 0.0), 0.0);
  EXPECT_EQ(rank_key(Metric::kDot, 3.0, 2.0, 3.0), 3.0);
  EXPECT_EQ(rank_key(Metric::kL2, 9.0, 2.0, 3.0), -3.0);
}

TEST(SumScorer, NoRowIsBetterThanItsBound) {
  Generator generator(1);
  for (const std::size_t dim : {1U, 5U, 64U, 301U}) {
    for (const testing::NamedTable& table : testing::hard_tables(53, dim, generator)) {
      for (const testing::NamedTable& other : testing::hard_tables(7, dim, generator)) {
        for (const Metric metric : {Metric::kCosine, Metric::kDot, Metric::kL2}) {
          const ByteRows rows(table.values, metric, 1);
          const ByteQueries queries(other.values, rows);
          const SumScorer scorer(rows, queries);
          for (std::size_t q = 0; q < queries.count(); ++q) {
            const std::vector<Candidate> bounds = all_bounds(rows, queries, scorer, q);
            ASSERT_EQ(bounds.size(), 53U);
            for (const Candidate& row : bounds) {
              EXPECT_FALSE(row.bound < scorer.floor(q, scorer.key(q, row.id)))
                  << metric_name(metric) << ", " << table.name << " and " << other.name << ", row " << row.id;
            }
          }
        }
      }
    }
  }
}

TEST(SumScorer, BoundsAreTight) {
  Generator generator(2);
  const Tensor<float, 2> table = testing::normal_rows(500, 768, generator);
  const Tensor<float, 2> query = testing::normal_rows(1, 768, generator);
  const ByteRows rows(table, Metric::kCosine, 1);
  const ByteQueries queries(query, rows);
  const SumScorer scorer(rows, queries);
  for (const Candidate& row : all_bounds(rows, queries, scorer, 0)) {
    EXPECT_LT(static_cast<double>(row.bound) - scorer.key(0, row.id), 0.03);  // cosines here are about 0.036
  }
}

TEST(SumScorer, NoKeyHasTheFloorOfNothing) {
  const Tensor<float, 2> table({3, 2});
  for (const Metric metric : {Metric::kCosine, Metric::kDot, Metric::kL2}) {
    const ByteRows rows(table, metric, 1);
    const ByteQueries queries(table, rows);
    EXPECT_EQ(SumScorer(rows, queries).floor(0, -std::numeric_limits<double>::infinity()), kNothing);
  }
}

}  // namespace
}  // namespace firstlayer
