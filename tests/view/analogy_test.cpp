#include "firstlayer/view/analogy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/formats/word_vectors.h"
#include "tests/every_target.h"
#include "tests/test_files.h"
#include "tests/view/hard_tables.h"

namespace firstlayer {
namespace {

using testing::message_of;

constexpr AnalogyRule kRules[] = {AnalogyRule::kAdd, AnalogyRule::kMultiply};

std::string words_of(const std::vector<Neighbor>& neighbors) {
  std::string words;
  for (const Neighbor& one : neighbors) {
    words += std::to_string(one.id) + ":" + std::to_string(std::bit_cast<std::uint64_t>(one.score)) + " ";
  }
  return words;
}

/// Rows man, woman, king, queen, prince, apple: royal, female, young, fruit.
const std::vector<float> kPeople = {1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0, 1, 1, 2, 0, 1, 0, 2, 1, 0, 1, 0, 5};
View<const float, 2> people() { return {kPeople, {6, 4}}; }
constexpr Analogy kQueen{2, 0, 1};  // king - man + woman

TEST(Analogy, KingMinusManPlusWomanIsQueen) {
  const NeighborTable table(people());
  for (const AnalogyRule rule : kRules) {
    const auto found = find_analogies(table, {&kQueen, 1}, rule, {.count = 10});
    EXPECT_EQ(found.front().front().id, 3U) << rule_name(rule);
    EXPECT_EQ(found.front().size(), 3U);  // all but its own three
  }
}

TEST(Analogy, ScoresByTheirFormulas) {
  // e1 - e2 + e3 and rows e1, e2, e3, (1, 0, 1): the last has the cosine 2 / sqrt(2) / sqrt(3) with the sum.
  const std::vector<float> rows = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1};
  const NeighborTable table(View<const float, 2>(rows, {4, 3}));
  const Analogy analogy{0, 1, 2};
  EXPECT_NEAR(find_analogies(table, {&analogy, 1}).front().front().score, 0.816496580927726, 1e-7);
  const double near = (1 + 0.7071067811865475) / 2;
  EXPECT_NEAR(find_analogies(table, {&analogy, 1}, AnalogyRule::kMultiply).front().front().score,
              near * near / (0.5 + 0.001), 1e-12);
}

TEST(Analogy, Masks) {
  const NeighborTable table(people());
  for (const AnalogyRule rule : kRules) {
    const std::vector<Analogy> twice = {kQueen, kQueen};
    const auto found = find_analogies(table, twice, rule, {.count = 1, .excluded_of = {{3}, {}}});
    EXPECT_EQ(found[0].front().id, 4U);
    EXPECT_EQ(found[1].front().id, 3U);
    EXPECT_EQ(find_analogies(table, twice, rule, {.only = std::vector<TokenId>{2, 5}})[1].front().id, 5U);
  }
}

TEST(Analogy, WhatCannotBeAskedIsRefused) {
  const NeighborTable table(people());
  const Analogy outside{0, 6, 1};
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              find_analogies(table, {&outside, 1});
            }),
            "[find_analogies] expected ids below V = 6, received 6 in analogy 0");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              find_analogies(table, {&kQueen, 1}, AnalogyRule::kAdd, {.excluded_of = {{}, {}}});
            }),
            "[find_analogies] expected as many lists excluded_of as analogies, 1, received 2");
  for (const AnalogyRule rule : kRules) {
    EXPECT_TRUE(message_of<std::invalid_argument>([&] {
                  find_analogies(table, {&kQueen, 1}, rule, {.count = 0});
                }).ends_with("expected a count of at least 1, received 0"));
  }
  const NeighborTable by_dot(people(), Metric::kDot);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              find_analogies(by_dot, {&kQueen, 1});
            }),
            "[find_analogies] expected a table for the metric cosine, received dot");
}

class Analogies : public testing::OnTarget {};

TEST_P(Analogies, EqualsTheReferenceOnHardTables) {
  Generator generator(1);
  for (const testing::NamedTable& table : testing::hard_tables(600, 21, generator)) {
    const NeighborTable prepared(table.values);
    std::vector<Analogy> analogies;
    for (int i = 0; i < 9; ++i) {
      analogies.push_back({generator.next_u32() % 600, generator.next_u32() % 600, generator.next_u32() % 600});
    }
    for (const AnalogyRule rule : kRules) {
      const auto found = find_analogies(prepared, analogies, rule, {.count = 5, .threads = 2});
      for (std::size_t i = 0; i < analogies.size(); ++i) {
        EXPECT_EQ(words_of(found[i]), words_of(find_analogy_reference(table.values, analogies[i], rule, {.count = 5})))
            << table.name << ", " << rule_name(rule) << ", " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, Analogies, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

TEST(Analogy, MoreThanAreRoundedAtOnce) {
  Generator generator(2);
  const Tensor<float, 2> table = testing::normal_rows(50, 8, generator);
  const NeighborTable prepared(table);
  std::vector<Analogy> analogies;
  for (TokenId i = 0; i < 1100; ++i) analogies.push_back({i % 50, i / 7 % 50, i / 50});
  for (const AnalogyRule rule : kRules) {
    const auto found = find_analogies(prepared, analogies, rule, {.count = 2});
    for (const std::size_t i : {0U, 1023U, 1024U, 1099U}) {
      EXPECT_EQ(words_of(found[i]), words_of(find_analogy_reference(table, analogies[i], rule, {.count = 2})));
    }
  }
}

TEST(AnalogyGolden, AreNumPysInFloat64) {
  const WordVectorsFile file = WordVectorsFile::open(FIRSTLAYER_TEST_DATA "/view/glove_slice.txt");
  const Tensor<float, 2> rows = file.read_all();
  const NeighborTable table(rows);
  std::ifstream text(FIRSTLAYER_TEST_DATA "/view/glove_slice.json");
  const nlohmann::json golden = nlohmann::json::parse(text)["analogies"];
  ASSERT_EQ(golden.size(), 2 * 3U);
  const auto row_of = [&](const nlohmann::json& word) { return file.find(word.get<std::string>()).value(); };
  for (const nlohmann::json& expected : golden) {
    const nlohmann::json& abc = expected["words"];
    const Analogy analogy{row_of(abc[0]), row_of(abc[1]), row_of(abc[2])};
    const AnalogyRule rule = expected["rule"] == "add" ? AnalogyRule::kAdd : AnalogyRule::kMultiply;
    const auto found = find_analogies(table, {&analogy, 1}, rule, {.count = 3}).front();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(file.word(found[i].id), expected["found"][i].get<std::string>());
      EXPECT_NEAR(found[i].score, expected["scores"][i].get<double>(), 1e-7);  // the sum is rounded to float32
    }
  }
}

}  // namespace
}  // namespace firstlayer
