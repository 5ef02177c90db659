#pragma once
// The tables that embed looks rows up in: drawn from a seed or read from a model, with added positions or without.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/flags.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/input_embedding.h"
#include "firstlayer/lookup/position/scheme.h"

namespace firstlayer::cli {

inline constexpr std::size_t kDefaultDim = 256;

struct LayerFlags {
  std::optional<std::uint64_t> dim;  ///< kDefaultDim if neither this nor weights is given
  std::string position = "learned";  ///< scheme_name() of a PositionScheme
  std::optional<std::string> weights;
};

/// --dim, --position and --weights.
void add_layer_flags(CLI::App& app, LayerFlags& flags);

class InputLayer {
 public:
  /// Tables for windows of `context` ids. Without weights, one generator seeded with `seed` draws the token table, then
  /// the position table if it is learned. Throws Failure for sizes that do not fit, FileError and FormatError.
  InputLayer(const LayerFlags& flags, std::size_t vocabulary_size, std::size_t context, std::uint64_t seed);

  PositionScheme scheme() const noexcept { return scheme_; }

  const Tensor<float, 2>& token_table() const noexcept { return embedding_.token_table(); }

  /// nullptr if the scheme adds nothing.
  const Tensor<float, 2>* position_table() const noexcept {
    return embedding_.has_positions() ? &embedding_.position_table() : nullptr;
  }

  std::size_t dim() const noexcept { return embedding_.sizes().dim; }

  /// out[b, t] = E[ids[b, t]] + P[t], or without P; ids (B, T), out (B, T, d).
  void forward(View<const TokenId, 2> ids, View<float, 3> out, unsigned threads) const {
    embedding_.forward(ids, out, threads);
  }

 private:
  PositionScheme scheme_;
  InputEmbedding embedding_;
};

}  // namespace firstlayer::cli
