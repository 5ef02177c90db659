#pragma once
// The way back through an InputEmbedding with its options: from the gradient of the output to those of both tables.

#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/input_embedding.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

/// The gradients of both tables. assign() reuses their memory: once it has seen a batch as large, it hardly allocates.
class InputGradient {
 public:
  /// Those of layer.forward(ids, out, options) for dout (B, T, d), with the bits of PyTorch's autograd unless there is
  /// a normalization, for which the sum is computed again from the tables: they must be as they were. The bits do not
  /// depend on `threads`, 0: all. Throws as forward(); std::invalid_argument for a dout of another shape.
  void assign(const InputEmbedding& layer, IdView ids, View<const float, 3> dout, const InputOptions& options = {},
              unsigned threads = 0);

  /// Of the rows of the token table that were used.
  const RowGradient& tokens() const noexcept { return tokens_; }
  /// Of the rows of the position table that were used; without one there are none.
  const RowGradient& positions() const noexcept { return positions_; }

 private:
  void sum_positions(const InputEmbedding& layer, View<const float, 3> dsum, const InputOptions& options,
                     unsigned threads);

  RowGradient tokens_;
  RowGradient positions_;
  RowGroups token_groups_;
  RowGroups position_groups_;
  std::vector<TokenId> counted_;  ///< offset .. offset + T - 1
  Tensor<float, 1> dsum_;         ///< at least B * T * d floats: what dropout, norm and scale leave of dout
  Tensor<float, 1> sum_;          ///< the same, for a norm: what went into it
};

}  // namespace firstlayer
