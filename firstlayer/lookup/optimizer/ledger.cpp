#include "firstlayer/lookup/optimizer/ledger.h"

#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/optimizer/rules.h"

namespace firstlayer {
namespace {

double weight_decay_of(const OptimizerOptions& options) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.weight_decay; }) {
          return o.weight_decay;
        } else {
          return 0.0;
        }
      },
      options);
}

}  // namespace

RowLedger::RowLedger(std::size_t rows, const OptimizerOptions& options, std::uint64_t steps)
    : rows_(rows), begin_(steps), end_(steps), decays_(weight_decay_of(options) != 0) {
  const ZeroGradient zero_gradient = zero_gradient_effect(options);
  decay_reaches_ = zero_gradient == ZeroGradient::kMovesRows ? Reaches::kAllRows : Reaches::kTouchedRows;
  update_reaches_ = zero_gradient == ZeroGradient::kMovesRows         ? Reaches::kAllRows
                    : zero_gradient == ZeroGradient::kLeavesFreshRows ? Reaches::kRowsOnceTouched
                                                                      : Reaches::kTouchedRows;
  // Decoupled decay is no part of the update.
  if (std::holds_alternative<AdamW>(options)) update_reaches_ = Reaches::kRowsOnceTouched;
}

void RowLedger::record(std::span<const TokenId> ids, std::uint64_t step) {
  end_ = step;
  for (const TokenId id : ids) touch(id, step);
}

void RowLedger::record_all(std::uint64_t step) {
  end_ = step;
  for (std::size_t row = 0; row < rows_.size(); ++row) touch(row, step);
}

RowRecord RowLedger::row(std::size_t row) const {
  if (row >= rows_.size()) {
    throw_out_of_range("RowLedger::row", "a row below V = " + std::to_string(rows_.size()), std::to_string(row));
  }
  return record_of(rows_[row]);
}

LedgerSummary RowLedger::summary() const {
  LedgerSummary summary{rows_.size(), 0, 0, 0};
  for (const Touches& touches : rows_) {
    const RowRecord record = record_of(touches);
    summary.touched += record.touched > 0 ? 1 : 0;
    summary.decayed += record.decayed > 0 ? 1 : 0;
    summary.moved += record.moved > 0 ? 1 : 0;
  }
  return summary;
}

void RowLedger::touch(std::size_t row, std::uint64_t step) {
  Touches& touches = rows_[row];
  touches.last = static_cast<std::uint32_t>(step - begin_);
  if (touches.count++ == 0) touches.first = touches.last;
}

RowRecord RowLedger::record_of(const Touches& touches) const {
  const bool any = touches.count > 0;
  return {.touched = touches.count,
          .decayed = decays_ ? steps_reaching(decay_reaches_, touches) : 0,
          .moved = steps_reaching(update_reaches_, touches),
          .first_touch = any ? begin_ + touches.first : 0,
          .last_touch = any ? begin_ + touches.last : 0};
}

std::uint64_t RowLedger::steps_reaching(Reaches reaches, const Touches& touches) const {
  const std::uint64_t steps = end_ - begin_;
  if (reaches == Reaches::kAllRows) return steps;
  if (reaches == Reaches::kTouchedRows || touches.count == 0) return touches.count;
  return steps - touches.first + 1;
}

}  // namespace firstlayer
