#include "firstlayer/view/explain.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/lookup/embedding_table.h"
#include "tests/view/small_layer.h"

namespace firstlayer {
namespace {

using testing::kRow;
using testing::small_embedding;

std::string message(const InputEmbedding& embedding, std::span<const TokenId> ids) {
  try {
    explain(embedding, ids, 123);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(Explain, EveryClaimHoldsForThisLibrary) {
  std::set<std::string> names;
  for (const std::uint64_t seed : {0, 1, 123}) {
    const std::vector<Evidence> evidence = explain(small_embedding(), kRow, seed);
    EXPECT_EQ(evidence.size(), 8);
    for (const Evidence& one : evidence) {
      EXPECT_EQ(one.verdict, Verdict::kHolds) << one.id;
      EXPECT_EQ(one.needs, "");
      EXPECT_FALSE(one.measured.empty());
      names.insert(one.id);
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"one-hot", "touched-rows", "same-token", "shuffle", "attention",
                                          "renumbering", "adding", "budget"}));
}

TEST(Explain, OneTokenDoesNotShowOrder) {
  for (const std::vector<TokenId>& ids : {std::vector<TokenId>{7}, std::vector<TokenId>{7, 7, 7}}) {
    for (const Evidence& one : explain(small_embedding(), ids, 123)) {
      const bool about_order =
          one.id == "shuffle" || one.id == "attention" || (one.id == "same-token" && ids.size() == 1);
      EXPECT_EQ(one.verdict, about_order ? Verdict::kNotShown : Verdict::kHolds) << one.id;
      EXPECT_EQ(one.needs.empty(), !about_order) << one.id;
    }
  }
}

TEST(Explain, AWholeContextAndTheSmallestTables) {
  const std::vector<TokenId> ids(8, 3);
  EXPECT_EQ(explain(small_embedding(), ids, 123).size(), 8);

  Generator generator(1);
  const InputEmbedding smallest({.vocabulary = 1, .context = 1, .dim = 1}, generator);
  const std::vector<TokenId> zero = {0};
  std::set<std::string> shown;
  for (const Evidence& one : explain(smallest, zero, 123)) {
    EXPECT_NE(one.verdict, Verdict::kDoesNotHold) << one.id;
    if (one.verdict == Verdict::kHolds) shown.insert(one.id);
  }
  EXPECT_EQ(shown, (std::set<std::string>{"one-hot", "adding", "budget"}));
}

TEST(Explain, HugeNumbers) {
  Generator generator(1);
  const InputEmbedding embedding(random_table(50, 16, generator, 1e30), random_table(8, 16, generator, 1e30));
  for (const Evidence& one : explain(embedding, kRow, 123)) EXPECT_EQ(one.verdict, Verdict::kHolds) << one.id;
}

TEST(Explain, ATableThatDoesNotTellTokensApart) {
  Generator generator(1);
  const InputEmbedding embedding(Tensor<float, 2>({50, 16}), random_table(8, 16, generator));
  for (const Evidence& one : explain(embedding, kRow, 123)) {
    EXPECT_EQ(one.verdict, one.id == "shuffle" ? Verdict::kDoesNotHold : Verdict::kHolds) << one.id;
  }
}

TEST(Explain, ATableThatDoesNotTellPositionsApart) {
  Generator generator(1);
  const InputEmbedding embedding(random_table(50, 16, generator), Tensor<float, 2>({8, 16}));
  for (const Evidence& one : explain(embedding, kRow, 123)) {
    const bool about_order = one.id == "same-token" || one.id == "shuffle" || one.id == "attention";
    EXPECT_EQ(one.verdict, about_order ? Verdict::kDoesNotHold : Verdict::kHolds) << one.id;
  }
}

TEST(Explain, RefusesIdsThatItCannotUse) {
  const std::vector<TokenId> no_row = {3, 50};
  EXPECT_EQ(message(small_embedding(), no_row), "[explain] expected ids below V = 50, received 50 at (b=0, t=1)");
  EXPECT_EQ(message(small_embedding(), {}), "[explain] expected at least one id, received none");
  const std::vector<TokenId> long_row(9, 3);
  EXPECT_EQ(message(small_embedding(), long_row), "[explain] expected at most context = 8 ids, received T = 9");
}

TEST(Explain, RefusesNumbersThatAreNotFinite) {
  const auto with = [](std::size_t id, std::size_t position) {
    Generator generator(1);
    Tensor<float, 2> tokens = random_table(50, 16, generator);
    Tensor<float, 2> positions = random_table(8, 16, generator);
    if (id < 50) tokens.view()(id, 2) = std::numeric_limits<float>::quiet_NaN();
    if (position < 8) positions.view()(position, 2) = std::numeric_limits<float>::infinity();
    return InputEmbedding(std::move(tokens), std::move(positions));
  };
  EXPECT_EQ(message(with(49, 8), kRow),
            "[explain] expected finite numbers in the rows of the text, received nan at E[49, 2]");
  EXPECT_EQ(message(with(50, 4), kRow),
            "[explain] expected finite numbers in the rows of the text, received inf at P[4, 2]");
  EXPECT_EQ(message(with(48, 5), kRow), "");  // rows that this text does not use
}

TEST(Explain, RefusesOperationsThatReturnAnotherShape) {
  LayerOperations layer = library_operations(1);
  layer.forward = [](const InputEmbedding&, IdView) { return Tensor<float, 3>({1, 4, 16}); };
  EXPECT_THROW(explain(small_embedding(), kRow, 123, layer), std::invalid_argument);
  layer = library_operations(1);
  layer.attention = [](View<const float, 2>, const AttentionWeights&) { return Tensor<double, 2>({4, 16}); };
  EXPECT_THROW(explain(small_embedding(), kRow, 123, layer), std::invalid_argument);
  layer = library_operations(1);
  layer.gradient = [](const Shape<2>&, IdView, View<const float, 3>) {
    RowGradient gradient;
    gradient.assign(std::vector<TokenId>{3}, 15);
    return gradient;
  };
  EXPECT_THROW(explain(small_embedding(), kRow, 123, layer), std::invalid_argument);
}

TEST(VerdictText, InWords) {
  EXPECT_EQ(verdict_text(Verdict::kHolds), "holds");
  EXPECT_EQ(verdict_text(Verdict::kDoesNotHold), "does not hold");
  EXPECT_EQ(verdict_text(Verdict::kNotShown), "not shown");
}

}  // namespace
}  // namespace firstlayer
