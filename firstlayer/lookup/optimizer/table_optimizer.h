#pragma once
// A table that learns: the gradient of the rows a batch used goes in, and the rows move by one of seven optimizers.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/optimizer/ledger.h"
#include "firstlayer/lookup/optimizer/non_finite_gradient.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

class NonFinite;
class RowOptimizer;

/// One table (V, d) under one optimizer, with the bits that docs/optimizers.md promises for any `threads` (0: all) and
/// any processor. Where the optimizer has dense semantics, a row without a gradient takes its steps when it is next
/// prepared: read a row only after prepare() of its id, or the whole table after settle().
///
/// What is refused is refused before anything changes, with one exception: a gradient that is not finite is found while
/// the step is taken. The step is then whole, with zeros for the numbers that are not finite, and NonFiniteGradient
/// names the first row of them. After its first call a step allocates nothing.
class TableOptimizer {
 public:
  /// The caller owns the table, which outlives this. With `ledger` every row's steps are counted (ledger.h). Throws
  /// std::invalid_argument naming an option that is out of PyTorch's range, or an empty table.
  TableOptimizer(View<float, 2> table, const OptimizerOptions& options, bool ledger = false);
  TableOptimizer(TableOptimizer&&) noexcept;
  TableOptimizer& operator=(TableOptimizer&&) noexcept;
  ~TableOptimizer();

  /// The options, with the learning rate as it is now.
  const OptimizerOptions& options() const noexcept { return options_; }
  double learning_rate() const;
  /// From the next step on. Throws std::invalid_argument for a rate that the constructor would refuse.
  void set_learning_rate(double lr);

  /// Steps taken.
  std::uint64_t steps() const;

  /// Brings the rows of a batch up to date. Throws std::invalid_argument for groups of another vocabulary.
  void prepare(const RowGroups& groups, unsigned threads = 0);
  /// The same from ids. Throws std::out_of_range naming an id that is no row and its (b, t).
  void prepare(IdView ids, unsigned threads = 0);
  /// Brings all rows up to date.
  void settle(unsigned threads = 0);

  /// The backward pass of the lookup fused with a step: row i's gradient is the sum of dout (B, T, d) over the places
  /// of i in the batch, and is never written to memory. Throws std::invalid_argument for another shape or vocabulary.
  void step(const RowGroups& groups, View<const float, 3> dout, unsigned threads = 0);
  /// A step by a gradient that was summed before, and perhaps clipped.
  void step(const RowGradient& gradient, unsigned threads = 0);
  /// The backward pass of positions 0 .. T-1, which were added to every row of the batch, fused with a step: row t's
  /// gradient is the sum of dout[b, t] over the batch, as position_gradient() gives it. Throws std::invalid_argument
  /// unless dout is (B, T, d) with T <= V.
  void step_positions(View<const float, 3> dout, unsigned threads = 0);
  /// A step by a gradient of every row, dtable (V, d), as a tied output head gives.
  void step_dense(View<const float, 2> dtable, unsigned threads = 0);
  /// The same with that of a batch added to it.
  void step_dense(View<const float, 2> dtable, const RowGroups& groups, View<const float, 3> dout,
                  unsigned threads = 0);

  /// Settles, then writes the state as safetensors: PyTorch's names, (V, d) or (V,), and in the metadata the optimizer,
  /// its options with the learning rate as it is now, the step, and V and d. The table is not part of it. Throws
  /// FileError.
  void save(const std::filesystem::path& path, unsigned threads = 0);

  /// Goes on where save() was called: state, step, options and learning rate are those of the file, to the bit. The
  /// ledger begins anew. Throws FileError; FormatError, and nothing changes, for the state of another optimizer or of a
  /// table of another shape.
  void load(const std::filesystem::path& path);

  /// nullptr unless asked for at construction.
  const RowLedger* ledger() const noexcept { return ledger_ ? &*ledger_ : nullptr; }

 private:
  void check_groups(const RowGroups& groups) const;
  void check_dtable(View<const float, 2> dtable) const;
  void check_scalars() const;

  View<float, 2> table_;
  OptimizerOptions options_;
  std::unique_ptr<NonFinite> non_finite_;  ///< what optimizer_ reports to
  std::unique_ptr<RowOptimizer> optimizer_;
  std::optional<RowLedger> ledger_;
  RowGroups groups_;                ///< of prepare(ids)
  std::vector<TokenId> positions_;  ///< 0 .. T-1 of step_positions(dout)
};

}  // namespace firstlayer
