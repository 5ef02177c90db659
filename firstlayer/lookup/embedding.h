#pragma once
// torch.nn.Embedding: a token table with its options.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

/// The options of torch.nn.Embedding, under its names. Its `sparse` is missing: a RowGradient is sparse, and the
/// numbers are the same.
struct EmbeddingOptions {
  /// -V .. V-1: this row gets no gradient, and a new table starts it from zeros.
  std::optional<std::int64_t> padding_idx = {};
  /// Rows with a larger norm are scaled down to it, in the table, when they are used.
  std::optional<double> max_norm = {};
  /// p of that norm, positive; infinity takes the largest magnitude.
  double norm_type = 2.0;
  /// Each place counts 1 / how often its id stands in the batch.
  bool scale_grad_by_freq = false;
};

class Embedding {
 public:
  /// A table (rows, dim) drawn as random_table() draws it; then the row of padding_idx is zeroed. Throws
  /// std::invalid_argument for what random_table() refuses, a max_norm that is negative or not a number, or a norm_type
  /// that is not positive; std::out_of_range for a padding_idx that is no row.
  Embedding(std::size_t rows, std::size_t dim, Generator& generator, const EmbeddingOptions& options = {},
            double std = 1.0);

  /// torch.nn.Embedding.from_pretrained(): the table (V, d) as it is, the row of padding_idx too. A frozen one gives no
  /// gradient. Throws as the constructor, and std::invalid_argument for an empty table.
  static Embedding from_pretrained(Tensor<float, 2> table, const EmbeddingOptions& options = {}, bool freeze = true);

  const Tensor<float, 2>& table() const noexcept { return table_; }
  View<float, 2> mutable_table() { return table_; }  ///< for an optimizer

  /// The padding id, if there is one, counted from the start.
  std::optional<TokenId> padding_id() const noexcept { return padding_id_; }
  const EmbeddingOptions& options() const noexcept { return options_; }

  bool requires_grad() const noexcept { return requires_grad_; }
  void set_requires_grad(bool requires_grad) noexcept { requires_grad_ = requires_grad; }

  /// ids (B, T) -> out (B, T, d) on `threads` threads, 0: all. With max_norm, each row that is used and whose norm is
  /// larger is first multiplied, in the table and once, by max_norm / (norm + 1e-7). Throws as lookup_rows(); nothing
  /// is changed then.
  void forward(IdView ids, View<float, 3> out, unsigned threads = 0);

  /// Allocates out.
  Tensor<float, 3> forward(IdView ids, unsigned threads = 0);

  /// The gradient of the table for dout (B, T, d), with the bits of PyTorch's, as lookup_gradient() but without the
  /// padding row. With scale_grad_by_freq each dout[b, t] is multiplied by 1 / count and added in one rounding.
  /// Renorming is no part of it, as in PyTorch. Throws std::invalid_argument for a dout of another shape or a table
  /// that is frozen; std::out_of_range naming an id that is no row and its (b, t).
  RowGradient gradient(IdView ids, View<const float, 3> dout, unsigned threads = 0) const;

  /// The same for places grouped by group(); reuses the memory of `gradient`.
  void gradient(const RowGroups& groups, View<const float, 3> dout, RowGradient& gradient, unsigned threads = 0) const;

  /// Groups ids (B, T) for gradient() and for an optimizer, without the places of the padding id. Throws as
  /// RowGroups::assign().
  void group(IdView ids, RowGroups& groups) const;

 private:
  Embedding(Tensor<float, 2> table, const EmbeddingOptions& options, bool requires_grad);

  Tensor<float, 2> table_;
  EmbeddingOptions options_;
  std::optional<TokenId> padding_id_;
  bool requires_grad_;
  RowGroups used_;  ///< by the last forward() with max_norm; kept for its memory
};

}  // namespace firstlayer
