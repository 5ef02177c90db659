#include "firstlayer/view/neighbors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/formats/word_vectors.h"
#include "tests/every_target.h"
#include "tests/test_files.h"
#include "tests/view/hard_tables.h"

namespace firstlayer {
namespace {

using testing::message_of;

constexpr Metric kMetrics[] = {Metric::kCosine, Metric::kDot, Metric::kL2};

/// "7:<bits of the score> 3:…"
std::string words_of(const std::vector<Neighbor>& neighbors) {
  std::string words;
  for (const Neighbor& one : neighbors) {
    words += std::to_string(one.id) + ":" + std::to_string(std::bit_cast<std::uint64_t>(one.score)) + " ";
  }
  return words;
}

std::vector<TokenId> ids_of(const std::vector<Neighbor>& neighbors) {
  std::vector<TokenId> ids;
  for (const Neighbor& one : neighbors) ids.push_back(one.id);
  return ids;
}

const std::vector<float> kPlane = {1, 0, 0, 2, -3, 0, 0, 0, 1, 0};  // five rows of two

View<const float, 2> plane() { return {kPlane, {5, 2}}; }

TEST(Neighbors, ByTheCosine) {
  const NeighborTable table(plane());
  const std::vector<Neighbor> found = table.find(std::vector<float>{2, 2});
  EXPECT_EQ(ids_of(found), (std::vector<TokenId>{0, 1, 4, 3, 2}));
  EXPECT_NEAR(found[0].score, std::sqrt(0.5), 1e-15);
  EXPECT_EQ(found[3].score, 0.0);  // a zero row
  EXPECT_NEAR(found[4].score, -std::sqrt(0.5), 1e-15);
}

TEST(Neighbors, ByTheDotProduct) {
  const std::vector<Neighbor> found = NeighborTable(plane(), Metric::kDot).find(std::vector<float>{2, 2});
  EXPECT_EQ(ids_of(found), (std::vector<TokenId>{1, 0, 4, 3, 2}));
  EXPECT_EQ(found[0].score, 4.0);
  EXPECT_EQ(found[4].score, -6.0);
}

TEST(Neighbors, ByTheDistance) {
  const std::vector<Neighbor> found = NeighborTable(plane(), Metric::kL2).find(std::vector<float>{1, 0});
  EXPECT_EQ(ids_of(found), (std::vector<TokenId>{0, 4, 3, 1, 2}));
  EXPECT_EQ(found[0].score, 0.0);
  EXPECT_EQ(found[2].score, 1.0);
  EXPECT_EQ(found[4].score, 4.0);
}

TEST(Neighbors, AZeroQueryHasTheCosineZeroWithAll) {
  const std::vector<Neighbor> found = NeighborTable(plane()).find(std::vector<float>{0, 0}, {.count = 3});
  EXPECT_EQ(ids_of(found), (std::vector<TokenId>{0, 1, 2}));
  EXPECT_EQ(found[2].score, 0.0);
}

TEST(Neighbors, Masks) {
  const NeighborTable table(plane());
  const std::vector<float> query = {2, 1};
  EXPECT_EQ(ids_of(table.find(query, {.count = 2, .excluded = {0, 0}})), (std::vector<TokenId>{4, 1}));
  EXPECT_EQ(ids_of(table.find(query, {.only = std::vector<TokenId>{2, 3}})), (std::vector<TokenId>{3, 2}));
  EXPECT_EQ(ids_of(table.find(query, {.excluded = {3}, .only = std::vector<TokenId>{2, 3}})), std::vector<TokenId>{2});
  EXPECT_TRUE(table.find(query, {.only = std::vector<TokenId>{}}).empty());
  const std::vector<float> two = {2, 1, 2, 1};
  const auto found = table.find(View<const float, 2>(two, {2, 2}), {.count = 1, .excluded_of = {{}, {0, 4}}});
  EXPECT_EQ(ids_of(found[0]), std::vector<TokenId>{0});
  EXPECT_EQ(ids_of(found[1]), std::vector<TokenId>{1});
}

TEST(Neighbors, Scores) {
  EXPECT_EQ(NeighborTable(plane(), Metric::kL2).score(std::vector<float>{1, 0}, 2), 4.0);
  EXPECT_EQ(NeighborTable(plane()).score(std::vector<float>{5, 0}, 2), -1.0);
  EXPECT_EQ(message_of<std::out_of_range>([] {
              NeighborTable(plane()).score(std::vector<float>{1, 0}, 5);
            }),
            "[NeighborTable::score] expected a row below V = 5, received 5");
}

TEST(Neighbors, ATableThatMovesIsStillThere) {
  NeighborTable first(plane(), Metric::kDot);
  const NeighborTable table = std::move(first);
  EXPECT_EQ(table.shape(), (Shape<2>{5, 2}));
  EXPECT_EQ(table.metric(), Metric::kDot);
  EXPECT_EQ(table.find(std::vector<float>{0, 1}, {.count = 1}).front().id, 1U);
}

TEST(Neighbors, NoQueriesHaveNoNeighbors) {
  EXPECT_TRUE(NeighborTable(plane()).find(View<const float, 2>({}, {0, 2})).empty());
}

TEST(Neighbors, WhatCannotBeAskedIsRefused) {
  const NeighborTable table(plane());
  const auto refusal = [&](const std::vector<float>& query, const NeighborOptions& options) {
    return message_of<std::invalid_argument>([&] { table.find(query, options); });
  };
  EXPECT_EQ(refusal({1, 2, 3}, {}), "[NeighborTable::find] expected queries of width d = 2, received 3");
  EXPECT_EQ(refusal({1, NAN}, {}), "[NeighborTable::find] expected finite numbers, received nan at query[0, 1]");
  EXPECT_EQ(refusal({1, 2}, {.count = 0}), "[NeighborTable::find] expected a count of at least 1, received 0");
  EXPECT_EQ(refusal({1, 2}, {.excluded_of = {{}, {}}}),
            "[NeighborTable::find] expected as many lists excluded_of as queries, 1, received 2");
  for (const NeighborOptions& options : {NeighborOptions{.excluded = {5}}, NeighborOptions{.excluded_of = {{5}}},
                                         NeighborOptions{.only = std::vector<TokenId>{5}}}) {
    EXPECT_EQ(message_of<std::out_of_range>([&] {
                table.find(std::vector<float>{1, 2}, options);
              }),
              "[NeighborTable::find] expected ids below V = 5, received 5");
  }
}

class Neighbors : public testing::OnTarget {};

TEST_P(Neighbors, EqualsTheReferenceOnHardTables) {
  Generator generator(1);
  for (const auto& [rows, dim] : {std::pair{1U, 1U}, {40U, 3U}, {700U, 33U}}) {
    for (const testing::NamedTable& table : testing::hard_tables(rows, dim, generator)) {
      Tensor<float, 2> queries({3, dim});
      generator.fill_normal(queries.flat());
      std::ranges::copy(table.values.view()[rows / 2], queries.view()[1].begin());  // a row finds itself
      for (float& value : queries.view()[2]) value *= 1e6F;
      for (const Metric metric : kMetrics) {
        const NeighborTable prepared(table.values, metric);
        const NeighborOptions options{.count = 7, .excluded = {static_cast<TokenId>(rows / 3)}};
        const auto found = prepared.find(queries, options);
        for (std::size_t q = 0; q < 3; ++q) {
          EXPECT_EQ(words_of(found[q]),
                    words_of(find_neighbors_reference(table.values, metric, queries.view()[q], options)))
              << metric_name(metric) << ", " << table.name << ", " << rows << " rows, query " << q;
        }
      }
    }
  }
}

TEST_P(Neighbors, EqualsTheReferenceForAnyCountAndNumberOfThreads) {
  Generator generator(2);
  const Tensor<float, 2> table = testing::normal_rows(900, 50, generator);
  const Tensor<float, 2> queries = testing::normal_rows(40, 50, generator);
  for (const Metric metric : kMetrics) {
    const NeighborTable prepared(table, metric);
    for (const std::size_t count : {1U, 10U, 5000U}) {
      const auto one = prepared.find(queries, {.count = count, .threads = 1});
      EXPECT_EQ(words_of(one[17]),
                words_of(find_neighbors_reference(table, metric, queries.view()[17], {.count = count})));
      for (const unsigned threads : {2U, 3U, 16U}) {
        const auto many = prepared.find(queries, {.count = count, .threads = threads});
        for (std::size_t q = 0; q < many.size(); ++q) EXPECT_EQ(words_of(many[q]), words_of(one[q]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, Neighbors, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

TEST(Neighbors, OneQueryOnManyThreads) {
  Generator generator(3);
  const Tensor<float, 2> table = testing::normal_rows(20000, 120, generator);
  const NeighborTable prepared(table);
  const std::string one = words_of(prepared.find(table.view()[5], {.threads = 1}));
  for (const unsigned threads : {2U, 5U}) {
    EXPECT_EQ(words_of(prepared.find(table.view()[5], {.threads = threads})), one);
  }
  EXPECT_TRUE(one.starts_with("5:"));
}

TEST(Neighbors, MoreQueriesThanAreRoundedAtOnce) {
  Generator generator(4);
  const Tensor<float, 2> table = testing::normal_rows(2500, 3, generator);
  const NeighborTable prepared(table, Metric::kL2);
  NeighborOptions options{.count = 1};
  for (TokenId id = 0; id < 2500; ++id) options.excluded_of.push_back({(id + 1) % 2500});
  const auto found = prepared.find(table, options);
  for (TokenId id = 0; id < 2500; ++id) EXPECT_EQ(found[id].front().id, id);
}

TEST(NeighborsGolden, AreNumPysInFloat64) {
  const WordVectorsFile file = WordVectorsFile::open(FIRSTLAYER_TEST_DATA "/view/glove_slice.txt");
  const Tensor<float, 2> table = file.read_all();
  std::ifstream text(FIRSTLAYER_TEST_DATA "/view/glove_slice.json");
  const nlohmann::json golden = nlohmann::json::parse(text)["neighbors"];
  ASSERT_EQ(golden.size(), 3 * 5U);
  for (const nlohmann::json& expected : golden) {
    for (const Metric metric : kMetrics) {
      if (expected["metric"] != metric_name(metric)) continue;
      const std::size_t row = file.find(expected["word"].get<std::string>()).value();
      const std::vector<Neighbor> found = NeighborTable(table, metric).find(table.view()[row], {.count = file.size()});
      EXPECT_EQ(ids_of(found), expected["ids"].get<std::vector<TokenId>>()) << expected["word"];
      const auto scores = expected["scores"].get<std::vector<double>>();
      for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(found[i].score, scores[i], 1e-13);
    }
  }
}

}  // namespace
}  // namespace firstlayer
