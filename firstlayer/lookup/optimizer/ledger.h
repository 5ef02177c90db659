#pragma once
// What became of every row of a table: who had a gradient, who was scaled by weight decay, who was moved.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/optimizer/options.h"

namespace firstlayer {

/// The steps of one row since the ledger began.
struct RowRecord {
  std::uint64_t touched;      ///< it had a gradient
  std::uint64_t decayed;      ///< weight decay scaled it or, as L2, was part of its gradient
  std::uint64_t moved;        ///< the optimizer's update was applied to it: under dense semantics with momentum or Adam
                              ///< in every step since the first gradient, with L2 decay in every step
  std::uint64_t first_touch;  ///< the step, from 1; 0 if there was none
  std::uint64_t last_touch;
};

/// How many rows are so at all.
struct LedgerSummary {
  std::size_t rows;
  std::size_t touched;
  std::size_t decayed;
  std::size_t moved;
};

/// Three numbers a row, written only when the row has a gradient: the rest follows from the optimizer.
class RowLedger {
 public:
  /// For a table of `rows` rows whose optimizer has taken `steps` steps.
  RowLedger(std::size_t rows, const OptimizerOptions& options, std::uint64_t steps);

  /// Step `step` gave these rows a gradient.
  void record(std::span<const TokenId> ids, std::uint64_t step);
  /// Step `step` gave every row one.
  void record_all(std::uint64_t step);

  /// Throws std::out_of_range if `row` is none of the table.
  RowRecord row(std::size_t row) const;
  LedgerSummary summary() const;

 private:
  struct Touches {
    std::uint32_t count = 0;
    std::uint32_t first = 0;  ///< steps since the ledger began, from 1
    std::uint32_t last = 0;
  };
  enum class Reaches { kTouchedRows, kRowsOnceTouched, kAllRows };

  void touch(std::size_t row, std::uint64_t step);
  RowRecord record_of(const Touches& touches) const;
  std::uint64_t steps_reaching(Reaches reaches, const Touches& touches) const;

  std::vector<Touches> rows_;
  std::uint64_t begin_;  ///< steps taken before
  std::uint64_t end_;    ///< the last step that was recorded
  bool decays_;
  Reaches decay_reaches_;
  Reaches update_reaches_;
};

}  // namespace firstlayer
