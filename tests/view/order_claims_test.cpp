// Each claim about order fails for a layer that is broken in the way it speaks of.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/view/attention.h"
#include "firstlayer/view/claims.h"
#include "tests/view/small_layer.h"

namespace firstlayer {
namespace {

using testing::changed;
using testing::evidence_for;
using testing::measured;

constexpr const char* kOrderClaims[] = {"same-token", "shuffle", "attention"};

/// A layer whose lookup, without positions, already depends on the slot.
LayerOperations lookup_that_counts() {
  LayerOperations layer = library_operations(1);
  layer.lookup = [](View<const float, 2> table, IdView ids, View<float, 3> out) {
    lookup_rows(table, ids, out);
    for (std::size_t t = 0; t < out.dim(1); ++t) out(0, t, 1) += 0.001F * static_cast<float>(t);
  };
  return layer;
}

/// A layer that forgets the position table.
LayerOperations forward_without_positions() {
  LayerOperations layer = library_operations(1);
  layer.forward = [](const InputEmbedding& embedding, IdView ids) {
    Tensor<float, 3> out({ids.dim(0), ids.dim(1), embedding.sizes().dim});
    lookup_rows(embedding.token_table(), ids, out);
    return out;
  };
  return layer;
}

/// A layer that adds the first position everywhere.
LayerOperations forward_with_one_position() {
  LayerOperations layer = library_operations(1);
  layer.forward = [](const InputEmbedding& embedding, IdView ids) {
    Tensor<float, 3> out({ids.dim(0), ids.dim(1), embedding.sizes().dim});
    lookup_rows(embedding.token_table(), ids, out);
    return changed(std::move(out), [&](std::size_t, std::size_t, std::span<float> vector) {
      for (std::size_t k = 0; k < vector.size(); ++k) vector[k] += embedding.position_table().view()(0, k);
    });
  };
  return layer;
}

TEST(OrderClaims, FailWhereALookupDependsOnTheSlot) {
  for (const char* claim : kOrderClaims) {
    EXPECT_EQ(evidence_for(claim, lookup_that_counts()).verdict, Verdict::kDoesNotHold) << claim;
  }
}

TEST(OrderClaims, FailWherePositionsAreNotAdded) {
  for (const char* claim : kOrderClaims) {
    EXPECT_EQ(evidence_for(claim, forward_without_positions()).verdict, Verdict::kDoesNotHold) << claim;
    EXPECT_EQ(evidence_for(claim, forward_with_one_position()).verdict, Verdict::kDoesNotHold) << claim;
  }
}

TEST(SameTokenClaim, ComparesEveryLaterSlotWithTheFirst) {
  const std::vector<TokenId> ids = {5, 7, 7, 5, 7};
  const Evidence evidence = evidence_for("same-token", library_operations(1), ids);
  EXPECT_EQ(evidence.verdict, Verdict::kHolds);
  EXPECT_EQ(measured<Count>(evidence, "equal_to_the_bit_without_positions").count, 3);
  EXPECT_EQ(measured<Count>(evidence, "equal_to_the_bit_without_positions").of, 3);
  EXPECT_EQ(measured<Count>(evidence, "equal_to_the_bit_with_positions").count, 0);
  EXPECT_EQ(measured<Ids>(evidence, "a_token_in_two_slots").ids, std::vector<TokenId>{7});
  EXPECT_EQ(measured<std::vector<std::uint64_t>>(evidence, "its_slots"), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(measured<double>(evidence, "its_difference_without_positions"), 0);
  EXPECT_GT(measured<double>(evidence, "its_difference_with_positions"), 0);
  ASSERT_EQ(evidence.vectors.size(), 4);
  EXPECT_EQ(evidence.vectors[0].values, evidence.vectors[1].values);
  EXPECT_NE(evidence.vectors[2].values, evidence.vectors[3].values);
}

TEST(SameTokenClaim, FailsForOneSlotThatDiffers) {
  LayerOperations layer = library_operations(1);
  layer.lookup = [](View<const float, 2> table, IdView ids, View<float, 3> out) {
    lookup_rows(table, ids, out);
    out(0, 4, 15) = std::nextafter(out(0, 4, 15), 0.0F);
  };
  const std::vector<TokenId> ids = {5, 7, 7, 5, 7};
  const Evidence evidence = evidence_for("same-token", layer, ids);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<Count>(evidence, "equal_to_the_bit_without_positions").count, 2);
}

TEST(ShuffleClaim, FindsVectorsAgain) {
  const std::vector<TokenId> ids = {1, 2, 3};
  const Evidence evidence = evidence_for("shuffle", library_operations(1), ids);
  EXPECT_EQ(evidence.verdict, Verdict::kHolds);
  EXPECT_EQ(measured<Ids>(evidence, "other_order").ids, (std::vector<TokenId>{3, 2, 1}));
  EXPECT_EQ(measured<Count>(evidence, "found_again_without_positions").count, 3);
  EXPECT_EQ(measured<Count>(evidence, "found_again_with_positions").count, 1);  // the token in the middle stays
}

TEST(ShuffleClaim, TurnsWhatReadsTheSameBackwards) {
  const std::vector<TokenId> ids = {1, 2, 1};
  const Evidence evidence = evidence_for("shuffle", library_operations(1), ids);
  EXPECT_EQ(evidence.verdict, Verdict::kHolds);
  EXPECT_EQ(measured<Ids>(evidence, "other_order").ids, (std::vector<TokenId>{2, 1, 1}));
  EXPECT_EQ(measured<Count>(evidence, "found_again_without_positions").count, 3);
  EXPECT_EQ(evidence_for("attention", library_operations(1), ids).verdict, Verdict::kHolds);
}

TEST(ShuffleClaim, CountsEachVectorOnce) {
  LayerOperations layer = library_operations(1);
  layer.lookup = [](View<const float, 2> table, IdView ids, View<float, 3> out) {
    lookup_rows(table, ids, out);
    if (out(0, 0, 0) == table(3, 0)) std::copy(out.flat().begin(), out.flat().begin() + 16, out.flat().begin() + 16);
  };
  const std::vector<TokenId> ids = {1, 2, 3};
  const Evidence evidence = evidence_for("shuffle", layer, ids);  // 3 3 1 instead of 3 2 1
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<Count>(evidence, "found_again_without_positions").count, 2);
}

TEST(AttentionClaim, MeasuresBothWays) {
  const std::vector<TokenId> ids = {1, 2, 3};
  const Evidence evidence = evidence_for("attention", library_operations(1), ids);
  EXPECT_EQ(evidence.verdict, Verdict::kHolds);
  EXPECT_LT(measured<double>(evidence, "difference_without_positions"), 1e-14);
  EXPECT_GT(measured<double>(evidence, "difference_with_positions"), 0.1);
  EXPECT_GT(measured<double>(evidence, "largest_output"), 0.1);
}

TEST(AttentionClaim, FailsForAttentionWithACausalMask) {
  LayerOperations layer = library_operations(1);
  layer.attention = [](View<const float, 2> x, const AttentionWeights& weights) {
    Tensor<double, 2> out({x.dim(0), weights.value.dim(1)});
    for (std::size_t t = 0; t < x.dim(0); ++t) {
      const Tensor<double, 2> seen = self_attention({x.flat().first((t + 1) * x.dim(1)), {t + 1, x.dim(1)}}, weights);
      std::copy(seen.view()[t].begin(), seen.view()[t].end(), out.view()[t].begin());
    }
    return out;
  };
  EXPECT_EQ(evidence_for("attention", layer).verdict, Verdict::kDoesNotHold);
}

TEST(AttentionClaim, FailsForAttentionThatCounts) {
  LayerOperations layer = library_operations(1);
  layer.attention = [](View<const float, 2> x, const AttentionWeights& weights) {
    Tensor<double, 2> out = self_attention(x, weights);
    for (std::size_t t = 0; t < x.dim(0); ++t) out.view()(t, 0) += 1e-6 * static_cast<double>(t);
    return out;
  };
  EXPECT_EQ(evidence_for("attention", layer).verdict, Verdict::kDoesNotHold);
}

TEST(AttentionClaim, FailsForAttentionThatIsNoNumber) {
  for (const int broken_call : {0, 1, 2, 3}) {  // without and with positions, each in two orders
    LayerOperations layer = library_operations(1);
    int call = 0;
    layer.attention = [&call, broken_call](View<const float, 2> x, const AttentionWeights& weights) {
      Tensor<double, 2> out = self_attention(x, weights);
      if (call++ == broken_call) out.flat()[20] = std::nan("");
      return out;
    };
    EXPECT_EQ(evidence_for("attention", layer).verdict, Verdict::kDoesNotHold) << broken_call;
    EXPECT_EQ(call, 4);
  }
}

}  // namespace
}  // namespace firstlayer
