// Each claim about sizes fails for a layer that is broken in the way it speaks of.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/view/claims.h"
#include "tests/view/small_layer.h"

namespace firstlayer {
namespace {

using testing::changed;
using testing::evidence_for;
using testing::measured;

TEST(AddingClaim, MeasuresWidthsAndParameters) {
  const Evidence evidence = evidence_for("adding");
  EXPECT_EQ(measured<std::uint64_t>(evidence, "width_when_added"), 16);
  EXPECT_EQ(measured<std::uint64_t>(evidence, "width_when_concatenated"), 32);
  EXPECT_EQ(measured<std::uint64_t>(evidence, "first_projection_when_added"), 16 * 3 * 16);
  EXPECT_EQ(measured<std::uint64_t>(evidence, "first_projection_when_concatenated"), 32 * 3 * 16);
  EXPECT_LT(measured<double>(evidence, "difference_if_its_halves_are_equal"), 1e-5);
}

TEST(AddingClaim, FailsForALayerThatConcatenates) {
  LayerOperations layer = library_operations(1);
  layer.forward = [](const InputEmbedding& embedding, IdView ids) {
    const Tensor<float, 3> x = embedding.forward(ids);
    Tensor<float, 3> wide({x.dim(0), x.dim(1), 2 * x.dim(2)});
    for (std::size_t t = 0; t < x.dim(1); ++t) {
      std::copy(x.view()[0][t].begin(), x.view()[0][t].end(), wide.view()[0][t].begin());
      const std::span<const float> position = embedding.position_table().view()[t];
      std::copy(position.begin(), position.end(), wide.view()[0][t].begin() + 16);
    }
    return wide;
  };
  const Evidence evidence = evidence_for("adding", layer);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(measured<std::uint64_t>(evidence, "width_when_added"), 32);
}

TEST(AddingClaim, FailsForALayerThatAddsSomethingElse) {
  LayerOperations layer = library_operations(1);
  layer.forward = [](const InputEmbedding& embedding, IdView ids) {
    return changed(embedding.forward(ids),
                   [](std::size_t, std::size_t, std::span<float> vector) { vector[3] += 0.01F; });
  };
  EXPECT_EQ(evidence_for("adding", layer).verdict, Verdict::kDoesNotHold);
  layer.forward = [](const InputEmbedding& embedding, IdView ids) {  // positions from 1 on
    Tensor<float, 3> out({ids.dim(0), ids.dim(1), embedding.sizes().dim});
    lookup_rows(embedding.token_table(), ids, out);
    return changed(std::move(out), [&](std::size_t, std::size_t t, std::span<float> vector) {
      for (std::size_t k = 0; k < vector.size(); ++k) vector[k] += embedding.position_table().view()(t + 1, k);
    });
  };
  EXPECT_EQ(evidence_for("adding", layer).verdict, Verdict::kDoesNotHold);
}

TEST(BudgetClaim, CountsTheTablesAndPublishedModels) {
  const Evidence evidence = evidence_for("budget");
  EXPECT_EQ(measured<std::uint64_t>(evidence, "numbers_in_these_tables"), (50 + 8) * 16);
  EXPECT_EQ(measured<std::uint64_t>(evidence, "numbers_by_the_formula"), (50 + 8) * 16);
  // The totals of the models as published: transformers' num_parameters() of gpt2 to gpt2-xl.
  const auto whole = [&](const char* name) { return measured<Share>(evidence, name).whole; };
  EXPECT_EQ(measured<Share>(evidence, "GPT-2_124M").part, 39'383'808);
  EXPECT_EQ(whole("GPT-2_124M"), 124'439'808);
  EXPECT_EQ(whole("GPT-2_355M"), 354'823'168);
  EXPECT_EQ(whole("GPT-2_774M"), 774'030'080);
  EXPECT_EQ(whole("GPT-2_1.5B"), 1'557'611'200);
  EXPECT_EQ(measured<Share>(evidence, "GPT-3_175B").part, 642'723'840);
  EXPECT_EQ(evidence.measured.size(), 2 + 12);
}

TEST(BudgetClaim, FailsForAFormulaWithoutPositions) {
  LayerOperations layer = library_operations(1);
  layer.parameters = [](const EmbeddingSizes& sizes) { return std::uint64_t{sizes.vocabulary} * sizes.dim; };
  EXPECT_EQ(evidence_for("budget", layer).verdict, Verdict::kDoesNotHold);
}

TEST(BudgetClaim, FailsForAFormulaThatIsRightForSmallTablesOnly) {
  LayerOperations layer = library_operations(1);
  layer.parameters = [](const EmbeddingSizes& sizes) {
    return std::uint64_t{static_cast<std::uint16_t>(sizes.parameters())};
  };
  const Evidence evidence = evidence_for("budget", layer);
  EXPECT_EQ(measured<std::uint64_t>(evidence, "numbers_by_the_formula"), (50 + 8) * 16);
  EXPECT_EQ(evidence.verdict, Verdict::kDoesNotHold);
}

}  // namespace
}  // namespace firstlayer
