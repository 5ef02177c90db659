#include "firstlayer/view/neighbor_scan.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "firstlayer/base/random.h"

namespace firstlayer {
namespace {

std::vector<TokenId> ids_of(TopList list) {
  std::vector<TokenId> ids;
  for (const Ranked& row : std::move(list).sorted()) ids.push_back(row.id);
  return ids;
}

TEST(TopList, KeepsTheBestWhateverTheirOrder) {
  TopList up(3);
  TopList down(3);
  for (TokenId id = 0; id < 10; ++id) {
    up.offer({static_cast<double>(id % 5), id});
    down.offer({static_cast<double>((9 - id) % 5), 9 - id});
  }
  EXPECT_EQ(ids_of(up), (std::vector<TokenId>{4, 9, 3}));  // keys 4, 4, 3; the lower id first
  EXPECT_EQ(ids_of(down), (std::vector<TokenId>{4, 9, 3}));
}

TEST(TopList, HasALeastKeyOnceItIsFull) {
  TopList list(2);
  list.offer({5.0, 1});
  EXPECT_EQ(list.least_key(), -std::numeric_limits<double>::infinity());
  list.offer({7.0, 2});
  EXPECT_EQ(list.least_key(), 5.0);
  list.offer({6.0, 3});
  EXPECT_EQ(list.least_key(), 6.0);
}

TEST(TopList, Merges) {
  TopList left(2);
  TopList right(2);
  left.offer({1.0, 1});
  left.offer({4.0, 4});
  right.offer({3.0, 3});
  right.offer({2.0, 2});
  left.merge(right);
  EXPECT_EQ(ids_of(left), (std::vector<TokenId>{4, 3}));
}

TEST(AllowedRows, AreThoseOfTheOptions) {
  const NeighborOptions options{.excluded = {1}, .excluded_of = {{2}, {}}};
  const AllowedRows allowed(options, 4, 2);
  EXPECT_TRUE(allowed.allows(0, 0));
  EXPECT_FALSE(allowed.allows(0, 1));
  EXPECT_FALSE(allowed.allows(0, 2));
  EXPECT_TRUE(allowed.allows(1, 2));
  EXPECT_TRUE(allowed.from(1).allows(0, 2));
  EXPECT_FALSE(allowed.from(1).allows(0, 1));
}

/// Asks for the row with the largest dot product, and counts how many were computed.
class CountingScorer final : public Scorer {
 public:
  CountingScorer(const ByteRows& rows, const ByteQueries& queries) : rows_(rows), queries_(queries) {}

  std::size_t vectors() const override { return 1; }
  std::size_t collect(std::size_t question, const std::int32_t* dots, std::size_t, const RowRange& rows, float floor,
                      Candidate* out) const override {
    return collect_sums(dots, rows, queries_.factors(question), floor, out);
  }
  float floor(std::size_t question, double key) const override {
    return rounded_down(key / rows_.unit() / queries_.unit(question));
  }
  double key(std::size_t question, TokenId row) const override {
    ++computed;
    double sum = 0;
    for (std::size_t k = 0; k < rows_.shape()[1]; ++k) {
      sum += static_cast<double>(rows_.table()(row, k)) * static_cast<double>(queries_.values(question)[k]);
    }
    return sum;
  }

  mutable std::size_t computed = 0;

 private:
  const ByteRows& rows_;
  const ByteQueries& queries_;
};

TEST(Scan, ScoresFewRowsInFull) {
  Generator generator(1);
  Tensor<float, 2> table({20000, 128});
  generator.fill_normal(table.flat());
  const ByteRows rows(table, Metric::kDot, 1);
  const ByteQueries queries(View<const float, 2>(table.flat().first(128), {1, 128}), rows);
  const CountingScorer scorer(rows, queries);
  const NeighborOptions options;
  const auto best = scan(rows, queries, 1, scorer, AllowedRows(options, 20000, 1), 10, 1);
  EXPECT_EQ(best.front().size(), 10U);
  EXPECT_EQ(best.front().front().id, 0U);
  EXPECT_LT(scorer.computed, 400U);  // of 20,000
}

}  // namespace
}  // namespace firstlayer
