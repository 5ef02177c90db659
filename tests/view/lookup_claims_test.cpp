// Each claim about lookups fails for a layer that is broken in the way it speaks of.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/view/claims.h"
#include "tests/view/small_layer.h"

namespace firstlayer {
namespace {

using testing::changed;
using testing::evidence_for;
using testing::kRow;
using testing::measured;

/// The ids of a batch, which these tests give in 32 bits.
std::vector<TokenId> ids_of(const IdView& ids) {
  const auto view = std::get<View<const TokenId, 2>>(ids.any());
  return {view.flat().begin(), view.flat().end()};
}

/// lookup_gradient() where the change is made to the rows.
template <class Change>
LayerOperations with_gradient(Change change) {
  LayerOperations layer = library_operations(1);
  layer.gradient = [change](const Shape<2>& table, IdView ids, View<const float, 3> dout) {
    RowGradient gradient = lookup_gradient(table, ids, dout);
    change(gradient, dout);
    return gradient;
  };
  return layer;
}

TEST(OneHotClaim, MeasuresForwardAndBackward) {
  const Evidence evidence = evidence_for("one-hot");
  EXPECT_EQ(measured<Count>(evidence, "vectors_that_differ").count, 0);
  EXPECT_EQ(measured<Count>(evidence, "vectors_that_differ").of, 5 * 16);
  EXPECT_EQ(measured<Count>(evidence, "gradients_that_differ").count, 0);
  EXPECT_EQ(measured<Count>(evidence, "gradients_that_differ").of, 50 * 16);
  EXPECT_EQ(measured<Count>(evidence, "products_with_rows_of_the_text").count, 5 * 4 * 16);
  EXPECT_EQ(measured<Count>(evidence, "products_with_rows_of_the_text").of, 5 * 50 * 16);
}

TEST(OneHotClaim, HoldsForMinusZero) {
  Tensor<float, 2> tokens({50, 16});
  std::fill(tokens.flat().begin(), tokens.flat().end(), -0.0F);
  Generator generator(1);
  const InputEmbedding embedding(std::move(tokens), random_table(8, 16, generator));
  EXPECT_EQ(explain(embedding, kRow, 123)[0].verdict, Verdict::kHolds);
}

TEST(OneHotClaim, FailsForALookupOffByOneRow) {
  LayerOperations layer = library_operations(1);
  layer.lookup = [](View<const float, 2> table, IdView ids, View<float, 3> out) {
    std::vector<TokenId> next = ids_of(ids);
    for (TokenId& id : next) id = static_cast<TokenId>((id + 1) % table.dim(0));
    lookup_rows(table, {next, ids.shape()}, out);
  };
  const Evidence evidence = evidence_for("one-hot", layer);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<Count>(evidence, "vectors_that_differ").count, 5 * 16);
  EXPECT_EQ(measured<Count>(evidence, "gradients_that_differ").count, 0);
}

TEST(OneHotClaim, FailsForAGradientThatMissesAPlace) {
  LayerOperations layer = library_operations(1);
  layer.gradient = [](const Shape<2>& table, IdView ids, View<const float, 3> dout) {
    const Tensor<float, 3> without_last = changed(
        [&] {
          Tensor<float, 3> copy(dout.shape());
          std::copy(dout.flat().begin(), dout.flat().end(), copy.flat().begin());
          return copy;
        }(),
        [&](std::size_t, std::size_t t, std::span<float> vector) {
          if (t == 3) std::fill(vector.begin(), vector.end(), 0.0F);  // the second place of id 3
        });
    return lookup_gradient(table, ids, without_last);
  };
  const Evidence evidence = evidence_for("one-hot", layer);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<Count>(evidence, "gradients_that_differ").count, 16);
  EXPECT_EQ(measured<Count>(evidence, "vectors_that_differ").count, 0);
}

TEST(OneHotClaim, FailsForAGradientOfOtherRows) {
  const auto with_ids = [](std::vector<TokenId> ids) {
    return evidence_for("one-hot", with_gradient([ids](RowGradient& gradient, View<const float, 3>) {
                          gradient.assign(ids, 16);
                          const View<float, 2> rows = gradient.rows();
                          std::fill(rows.flat().begin(), rows.flat().end(), 1.0F);
                        }));
  };
  for (const Evidence& evidence : {with_ids({}), with_ids({0, 3, 7}), with_ids({0, 3, 7, 48}), with_ids({0, 3, 7, 49}),
                                   with_ids({0, 1, 3, 7, 49}), with_ids({1, 2, 4})}) {
    EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  }
  EXPECT_EQ(measured<Count>(with_ids({}), "gradients_that_differ").count, 4 * 16);
  EXPECT_EQ(measured<Count>(with_ids({1, 48}), "gradients_that_differ").count, 6 * 16);
}

TEST(TouchedRowsClaim, CountsRowsAndNamesTwo) {
  const Evidence evidence = evidence_for("touched-rows");
  EXPECT_EQ(measured<Count>(evidence, "rows_touched").count, 4);
  EXPECT_EQ(measured<Count>(evidence, "rows_moved").count, 4);
  EXPECT_EQ(measured<Count>(evidence, "rows_moved").of, 50);
  EXPECT_EQ(measured<Count>(evidence, "rows_moved_without_being_touched").count, 0);
  EXPECT_EQ(measured<Count>(evidence, "rows_moved_without_being_touched").of, 46);
  EXPECT_EQ(measured<Ids>(evidence, "a_touched_row").ids, std::vector<TokenId>{7});
  EXPECT_EQ(measured<Ids>(evidence, "a_row_left_as_it_was").ids, std::vector<TokenId>{8});
  EXPECT_GT(measured<double>(evidence, "its_largest_change"), 0);
}

TEST(TouchedRowsClaim, FailsForAStepThatMovesAllRows) {
  LayerOperations layer = library_operations(1);
  layer.step = [](View<float, 2> table, const RowGradient& gradient, float rate) {
    for (float& value : table.flat()) value *= 1 - rate * 0.01F;  // dense weight decay
    descend(table, gradient, rate);
  };
  const Evidence evidence = evidence_for("touched-rows", layer);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<Count>(evidence, "rows_moved_without_being_touched").count, 46);
}

TEST(TouchedRowsClaim, FailsForAStepThatMovesNothingOrOneRowTooFew) {
  LayerOperations layer = library_operations(1);
  layer.step = [](View<float, 2>, const RowGradient&, float) {};
  EXPECT_EQ(evidence_for("touched-rows", layer).verdict, Verdict::kDoesNotHold);
  const auto stops_at_the_last = [](RowGradient& gradient, View<const float, 3>) {
    const View<float, 2> rows = gradient.rows();
    std::fill(rows[3].begin(), rows[3].end(), 0.0F);
  };
  EXPECT_EQ(evidence_for("touched-rows", with_gradient(stops_at_the_last)).verdict, Verdict::kDoesNotHold);
}

TEST(TouchedRowsClaim, FailsForAStepOnAnotherRow) {
  LayerOperations layer = library_operations(1);
  layer.step = [](View<float, 2> table, const RowGradient& gradient, float rate) {
    descend(table, gradient, rate);
    table(8, 15) += rate;
  };
  const Evidence evidence = evidence_for("touched-rows", layer);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<Count>(evidence, "rows_moved_without_being_touched").count, 1);
  EXPECT_EQ(measured<Ids>(evidence, "a_row_left_as_it_was").ids, std::vector<TokenId>{9});
}

TEST(TouchedRowsClaim, NeedsARowThatIsNotTouched) {
  Generator generator(1);
  const InputEmbedding embedding({.vocabulary = 2, .context = 4, .dim = 3}, generator);
  const std::vector<TokenId> both = {0, 1};
  EXPECT_EQ(explain(embedding, both, 123)[1].verdict, Verdict::kNotShown);
}

TEST(RenumberingClaim, GivesEachTokenAnotherNumber) {
  const Evidence evidence = evidence_for("renumbering");
  const auto ids = measured<std::vector<std::uint64_t>>(evidence, "ids");
  const auto renumbered = measured<std::vector<std::uint64_t>>(evidence, "ids_renumbered");
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{7, 3, 49, 3, 0}));
  for (std::size_t t = 0; t < ids.size(); ++t) EXPECT_NE(ids[t], renumbered[t]);
  EXPECT_EQ(renumbered[1], renumbered[3]);
  EXPECT_EQ(measured<Count>(evidence, "embedding_values_that_differ").count, 0);
  EXPECT_EQ(measured<double>(evidence, "embedding_largest_difference"), 0);
  EXPECT_GT(measured<double>(evidence, "dense_layer_largest_difference"), 1);
}

TEST(RenumberingClaim, FailsForALayerThatSeesTheNumberOfARow) {
  LayerOperations layer = library_operations(1);
  layer.forward = [](const InputEmbedding& embedding, IdView ids) {
    return changed(embedding.forward(ids), [&](std::size_t, std::size_t t, std::span<float> vector) {
      vector[0] += 0.01F * static_cast<float>(ids_of(ids)[t]);
    });
  };
  const Evidence evidence = evidence_for("renumbering", layer);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<Count>(evidence, "embedding_values_that_differ").count, 5);
}

}  // namespace
}  // namespace firstlayer
