#include "firstlayer/lookup/optimizer/rule_optimizer.h"

#include <algorithm>
#include <string>
#include <type_traits>

namespace firstlayer {
namespace {

using rule_kernels::CatchUp;

std::size_t state_floats(const Rule& rule, const Shape<2>& table) {
  return std::visit(
      [&](const auto& each) {
        using Each = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, RowwiseAdagradRule>) {
          return table[0];
        } else {
          return Each::kStates * element_count(table);
        }
      },
      rule);
}

/// PyTorch's names of the state that a rule keeps.
std::vector<std::string> state_names(const Rule& rule) {
  struct Names {
    std::vector<std::string> operator()(const SgdRule&) { return {}; }
    std::vector<std::string> operator()(const MomentumRule&) { return {"momentum_buffer"}; }
    std::vector<std::string> operator()(const AdagradRule&) { return {"sum"}; }
    std::vector<std::string> operator()(const RowwiseAdagradRule&) { return {"sum"}; }
    std::vector<std::string> operator()(const AdamRule&) { return {"exp_avg", "exp_avg_sq"}; }
    std::vector<std::string> operator()(const SparseAdamWRule&) { return {"exp_avg", "exp_avg_sq"}; }
    std::vector<std::string> operator()(const SparseAdamRule&) { return {"exp_avg", "exp_avg_sq"}; }
  };
  return std::visit(Names{}, rule);
}

}  // namespace

RuleOptimizer::RuleOptimizer(View<float, 2> table, const OptimizerOptions& options, NonFinite& non_finite)
    : options_(options),
      rule_(make_rule(options)),
      zero_gradient_(zero_gradient_effect(options)),
      table_(table),
      non_finite_(non_finite),
      state_({state_floats(rule_, table.shape())}) {
  const auto* adagrad = std::get_if<Adagrad>(&options);
  // Zeros are written too, so that the system finds the pages now and not in the first steps.
  const double start = adagrad != nullptr ? adagrad->initial_accumulator_value : 0;
  std::ranges::fill(state_.flat(), static_cast<float>(start));
  if (zero_gradient_ != ZeroGradient::kNothing) {
    history_.reserve(kHistory);
    taken_.assign(table.dim(0), zero_gradient_ == ZeroGradient::kLeavesFreshRows ? CatchUp::kFresh : 0);
  }
}

void RuleOptimizer::step(double lr, const RowGroups& groups, const float* dout, unsigned threads) {
  make_room(threads);
  prepare(groups.ids(), threads);
  const rule_kernels::Step step = next_step(lr);
  rule_kernels::step(rule_kernels::GroupStep{step, groups, dout}, scratch(threads), threads);
  end_step(step, groups.ids());
}

void RuleOptimizer::step(double lr, const RowGradient& gradient, unsigned threads) {
  make_room(threads);
  prepare(gradient.ids(), threads);
  const rule_kernels::Step step = next_step(lr);
  const rule_kernels::CompactStep job = {step, gradient.ids(), gradient.rows().data()};
  rule_kernels::step(job, scratch(threads), threads);
  end_step(step, gradient.ids());
}

void RuleOptimizer::step(double lr, View<const float, 2> dtable, const RowGroups* groups, const float* dout,
                         unsigned threads) {
  settle(threads);
  const rule_kernels::DenseStep job = {next_step(lr), dtable.data(), groups, dout};
  rule_kernels::step(job, scratch(threads), threads);
  std::ranges::fill(taken_, 0);  // of an empty history: every row has a gradient and none missed this step
  ++steps_;
}

void RuleOptimizer::step(double lr, std::span<const TokenId> positions, View<const float, 3> dout, unsigned threads) {
  dpositions_.assign(positions, table_.dim(1));
  position_gradient(dout, dpositions_.rows(), threads);
  step(lr, dpositions_, threads);
}

void RuleOptimizer::prepare(std::span<const TokenId> ids, unsigned threads) {
  if (!history_.empty()) rule_kernels::catch_up(catch_up_job(), ids, threads);
}

void RuleOptimizer::settle(unsigned threads) {
  if (history_.empty()) return;
  rule_kernels::catch_up_all(catch_up_job(), threads);
  for (std::uint32_t& taken : taken_) {
    if (taken != CatchUp::kFresh) taken = 0;
  }
  history_.clear();
}

std::vector<StateRows> RuleOptimizer::state() {
  const std::vector<std::string> names = state_names(rule_);
  const bool row_wise = std::holds_alternative<RowwiseAdagradRule>(rule_);
  const std::size_t width = row_wise ? 1 : table_.dim(1);
  std::vector<StateRows> state;
  for (std::size_t j = 0; j < names.size(); ++j) {
    state.push_back({names[j], state_.flat().data() + j * width, width, names.size() * width});
  }
  return state;
}

void RuleOptimizer::restored(std::uint64_t steps) {
  steps_ = steps;
  history_.clear();
  std::ranges::fill(taken_, 0);
}

void RuleOptimizer::make_room(unsigned threads) {
  if (history_.size() == kHistory) settle(threads);
}

rule_kernels::Step RuleOptimizer::next_step(double lr) {
  return {rows(), step_scalars(options_, steps_ + 1, lr), &non_finite_};
}

void RuleOptimizer::end_step(const rule_kernels::Step& step, std::span<const TokenId> touched) {
  ++steps_;
  if (zero_gradient_ != ZeroGradient::kNothing) {
    history_.push_back(step.scalars);
    for (const TokenId id : touched) taken_[id] = static_cast<std::uint32_t>(history_.size());
  }
}

std::span<float> RuleOptimizer::scratch(unsigned threads) {
  const std::size_t floats = rule_kernels::scratch_floats(rule_, table_.dim(1), threads);
  if (scratch_.size() < floats) scratch_.resize(floats);
  return std::span<float>(scratch_).first(floats);
}

}  // namespace firstlayer
