#pragma once
// The claims, each as a function from an experiment to its evidence. Internal to the library.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/view/explain.h"

namespace firstlayer {

/// What every claim is put to the test on.
struct Experiment {
  const InputEmbedding& embedding;
  std::span<const TokenId> ids;  ///< (T,), at least one
  std::uint64_t seed;
  const LayerOperations& layer;

  /// As a batch of one row.
  IdView batch() const { return {ids, {1, ids.size()}}; }
  std::size_t dim() const { return embedding.sizes().dim; }

  /// The vectors (1, T, d) of `row`, which is `ids` or another row, without and with positions.
  Tensor<float, 3> without_positions(std::span<const TokenId> row) const;
  Tensor<float, 3> with_positions(std::span<const TokenId> row) const;
};

inline Verdict holds_if(bool held) { return held ? Verdict::kHolds : Verdict::kDoesNotHold; }

/// The different ids of a row, ascending.
std::vector<TokenId> unique_ids(std::span<const TokenId> ids);

// lookup_claims.cpp
Evidence one_hot_claim(const Experiment& experiment);
Evidence touched_rows_claim(const Experiment& experiment);
Evidence renumbering_claim(const Experiment& experiment);

// order_claims.cpp
Evidence same_token_claim(const Experiment& experiment);
Evidence shuffle_claim(const Experiment& experiment);
Evidence attention_claim(const Experiment& experiment);

// size_claims.cpp
Evidence adding_claim(const Experiment& experiment);
Evidence budget_claim(const Experiment& experiment);

}  // namespace firstlayer
