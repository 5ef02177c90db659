#include "firstlayer/view/explain.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/view/claims.h"

namespace firstlayer {
namespace {

void check_finite(std::string_view table, std::size_t row, std::span<const float> values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k])) {
      throw_invalid("explain", "finite numbers in the rows of the text",
                    std::to_string(values[k]).append(" at ").append(table).append("[" + std::to_string(row) + ", " +
                                                                                  std::to_string(k) + "]"));
    }
  }
}

void check_experiment(const Experiment& experiment) {
  const EmbeddingSizes& sizes = experiment.embedding.sizes();
  const std::size_t T = experiment.ids.size();
  if (T == 0) throw_invalid("explain", "at least one id", "none");
  if (T > sizes.context) {
    throw_out_of_range("explain", "at most context = " + std::to_string(sizes.context) + " ids",
                       "T = " + std::to_string(T));
  }
  const View<const float, 2> tokens = experiment.embedding.token_table();
  check_ids("explain", tokens.shape(), {experiment.ids, {1, T}});
  for (const TokenId id : unique_ids(experiment.ids)) check_finite("E", id, tokens[id]);
  const View<const float, 2> positions = experiment.embedding.position_table();
  for (std::size_t t = 0; t < T; ++t) check_finite("P", t, positions[t]);
}

}  // namespace

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kDoesNotHold:
      return "does not hold";
    case Verdict::kNotShown:
      break;
  }
  return "not shown";
}

Tensor<float, 3> Experiment::without_positions(std::span<const TokenId> row) const {
  Tensor<float, 3> out({1, row.size(), dim()});
  layer.lookup(embedding.token_table(), {row, {1, row.size()}}, out);
  return out;
}

Tensor<float, 3> Experiment::with_positions(std::span<const TokenId> row) const {
  Tensor<float, 3> x = layer.forward(embedding, {row, {1, row.size()}});
  if (x.dim(0) != 1 || x.dim(1) != row.size()) {
    throw_invalid("explain", "a forward to (1, T, d) for T = " + std::to_string(row.size()), shape_text(x.shape()));
  }
  return x;
}

std::vector<TokenId> unique_ids(std::span<const TokenId> ids) {
  std::vector<TokenId> unique(ids.begin(), ids.end());
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  return unique;
}

LayerOperations library_operations(unsigned threads) {
  LayerOperations layer;
  layer.lookup = [threads](View<const float, 2> table, IdView ids, View<float, 3> out) {
    lookup_rows(table, ids, out, threads);
  };
  layer.forward = [threads](const InputEmbedding& embedding, IdView ids) { return embedding.forward(ids, threads); };
  layer.gradient = [threads](const Shape<2>& table, IdView ids, View<const float, 3> dout) {
    return lookup_gradient(table, ids, dout, threads);
  };
  layer.step = descend;
  layer.attention = self_attention;
  layer.parameters = [](const EmbeddingSizes& sizes) { return sizes.parameters(); };
  return layer;
}

std::vector<Evidence> explain(const InputEmbedding& embedding, std::span<const TokenId> ids, std::uint64_t seed,
                              const LayerOperations& layer) {
  const Experiment experiment{embedding, ids, seed, layer};
  check_experiment(experiment);
  std::vector<Evidence> evidence;
  for (const auto claim : {one_hot_claim, touched_rows_claim, same_token_claim, shuffle_claim, attention_claim,
                           renumbering_claim, adding_claim, budget_claim}) {
    evidence.push_back(claim(experiment));
  }
  return evidence;
}

std::vector<Evidence> explain(const InputEmbedding& embedding, std::span<const TokenId> ids, std::uint64_t seed) {
  return explain(embedding, ids, seed, library_operations());
}

}  // namespace firstlayer
