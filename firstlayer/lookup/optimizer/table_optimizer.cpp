#include "firstlayer/lookup/optimizer/table_optimizer.h"

#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/optimizer/lazy_adamw.h"
#include "firstlayer/lookup/optimizer/non_finite.h"
#include "firstlayer/lookup/optimizer/optimizer_state.h"
#include "firstlayer/lookup/optimizer/option_fields.h"
#include "firstlayer/lookup/optimizer/row_optimizer.h"
#include "firstlayer/lookup/optimizer/rule_optimizer.h"

namespace firstlayer {
namespace {

constexpr std::string_view kStep = "TableOptimizer::step";
constexpr std::string_view kStepPositions = "TableOptimizer::step_positions";
constexpr std::string_view kStepDense = "TableOptimizer::step_dense";

std::unique_ptr<RowOptimizer> make_row_optimizer(View<float, 2> table, const OptimizerOptions& options,
                                                 NonFinite& non_finite) {
  std::optional<AdamW> adamw;
  if (const auto* same = std::get_if<AdamW>(&options)) adamw = *same;
  if (const auto* adam = std::get_if<Adam>(&options); adam != nullptr && adam->weight_decay == 0) {
    adamw = AdamW{adam->lr, adam->beta1, adam->beta2, adam->eps, 0};
  }
  // PyTorch's lerp has another form for small betas, which the faster way does not know.
  if (adamw && static_cast<float>(1 - adamw->beta1) < 0.5F)
    return std::make_unique<LazyAdamW>(table, *adamw, &non_finite);
  return std::make_unique<RuleOptimizer>(table, options, non_finite);
}

}  // namespace

TableOptimizer::TableOptimizer(View<float, 2> table, const OptimizerOptions& options, bool ledger)
    : table_(table), options_(options) {
  check_options(options);
  if (table.size() == 0) throw_invalid("TableOptimizer", "a table (V, d) with rows", shape_text(table.shape()));
  non_finite_ = std::make_unique<NonFinite>();
  optimizer_ = make_row_optimizer(table, options, *non_finite_);
  if (ledger) ledger_.emplace(table.dim(0), options, 0);
}

TableOptimizer::TableOptimizer(TableOptimizer&&) noexcept = default;
TableOptimizer& TableOptimizer::operator=(TableOptimizer&&) noexcept = default;
TableOptimizer::~TableOptimizer() = default;

double TableOptimizer::learning_rate() const { return learning_rate_of(options_); }

void TableOptimizer::set_learning_rate(double lr) {
  OptimizerOptions changed = options_;
  set_learning_rate_of(changed, lr);
  check_options(changed);
  options_ = changed;
}

std::uint64_t TableOptimizer::steps() const { return optimizer_->steps(); }

void TableOptimizer::prepare(const RowGroups& groups, unsigned threads) {
  check_groups(groups);
  optimizer_->prepare(groups.ids(), threads);
}

void TableOptimizer::prepare(IdView ids, unsigned threads) {
  groups_.assign(ids, table_.dim(0));
  optimizer_->prepare(groups_.ids(), threads);
}

void TableOptimizer::settle(unsigned threads) { optimizer_->settle(threads); }

void TableOptimizer::step(const RowGroups& groups, View<const float, 3> dout, unsigned threads) {
  check_groups(groups);
  check_dout(kStep, groups.batch(), table_.dim(1), dout);
  check_scalars();
  if (ledger_) ledger_->record(groups.ids(), steps() + 1);
  optimizer_->step(learning_rate(), groups, dout.data(), threads);
  non_finite_->throw_if_reported(kStep);
}

void TableOptimizer::step(const RowGradient& gradient, unsigned threads) {
  check_row_gradient(kStep, gradient, table_.shape());
  check_scalars();
  if (ledger_) ledger_->record(gradient.ids(), steps() + 1);
  optimizer_->step(learning_rate(), gradient, threads);
  non_finite_->throw_if_reported(kStep);
}

void TableOptimizer::step_positions(View<const float, 3> dout, unsigned threads) {
  if (dout.dim(1) > table_.dim(0) || dout.dim(2) != table_.dim(1)) {
    throw_invalid(kStepPositions,
                  "dout of shape (B, T, d) with T <= V and the d of the table (V, d) = " + shape_text(table_.shape()),
                  shape_text(dout.shape()));
  }
  check_scalars();
  if (positions_.size() != dout.dim(1)) {
    positions_.resize(dout.dim(1));
    std::iota(positions_.begin(), positions_.end(), TokenId{0});
  }
  if (ledger_) ledger_->record(positions_, steps() + 1);
  optimizer_->step(learning_rate(), positions_, dout, threads);
  non_finite_->throw_if_reported(kStepPositions);
}

void TableOptimizer::step_dense(View<const float, 2> dtable, unsigned threads) {
  check_dtable(dtable);
  check_scalars();
  if (ledger_) ledger_->record_all(steps() + 1);
  optimizer_->step(learning_rate(), dtable, nullptr, nullptr, threads);
  non_finite_->throw_if_reported(kStepDense);
}

void TableOptimizer::step_dense(View<const float, 2> dtable, const RowGroups& groups, View<const float, 3> dout,
                                unsigned threads) {
  check_dtable(dtable);
  check_groups(groups);
  check_dout(kStepDense, groups.batch(), table_.dim(1), dout);
  check_scalars();
  if (ledger_) ledger_->record_all(steps() + 1);
  optimizer_->step(learning_rate(), dtable, &groups, dout.data(), threads);
  non_finite_->throw_if_reported(kStepDense);
}

void TableOptimizer::save(const std::filesystem::path& path, unsigned threads) {
  optimizer_->settle(threads);
  save_optimizer_state(path, options_, table_.shape(), steps(), optimizer_->state());
}

void TableOptimizer::load(const std::filesystem::path& path) {
  const OptimizerStateFile file(path, options_, table_.shape());
  std::unique_ptr<RowOptimizer> restored = make_row_optimizer(table_, file.options(), *non_finite_);
  file.copy_to(restored->state());
  restored->restored(file.steps());
  optimizer_ = std::move(restored);
  options_ = file.options();
  if (ledger_) ledger_.emplace(table_.dim(0), options_, steps());
}

void TableOptimizer::check_groups(const RowGroups& groups) const {
  if (groups.vocabulary() != table_.dim(0)) {
    throw_invalid("TableOptimizer", "groups of a vocabulary of V = " + std::to_string(table_.dim(0)),
                  std::to_string(groups.vocabulary()));
  }
}

void TableOptimizer::check_dtable(View<const float, 2> dtable) const {
  if (dtable.shape() != table_.shape()) {
    throw_invalid(kStepDense, "dtable of the table's shape " + shape_text(table_.shape()), shape_text(dtable.shape()));
  }
}

/// What a huge learning rate makes of the numbers that the steps multiply by.
void TableOptimizer::check_scalars() const {
  const StepScalars scalars = step_scalars(options_, steps() + 1, learning_rate());
  if (!std::isfinite(scalars.rate) || !std::isfinite(scalars.decay)) {
    throw_invalid(kStep, "a learning rate whose step is finite in float32", number_text(learning_rate()));
  }
}

}  // namespace firstlayer
