// The rules, number by number: what rule_kernels.cpp does on vectors.

#include <algorithm>
#include <array>
#include <cmath>

#include "firstlayer/lookup/optimizer/rule_kernels.h"

namespace firstlayer::rule_kernels {
namespace {

/// A number of the table with its states, as far as the rule has any.
struct Number {
  float& p;
  float& first;
  float& second;
};

float with_weight_decay(float g, float p, float weight_decay) {
  return weight_decay != 0.0F ? std::fma(p, weight_decay, g) : g;
}

float lerp(float from, float to, float weight) {
  return weight < 0.5F ? std::fma(weight, to - from, from) : std::fma(weight - 1.0F, to - from, to);
}

void update(const SgdRule& rule, const StepScalars& scalars, float g, Number n) {
  n.p = std::fma(-scalars.rate, with_weight_decay(g, n.p, rule.weight_decay), n.p);
}

void update(const MomentumRule& rule, const StepScalars& scalars, float g, Number n) {
  g = with_weight_decay(g, n.p, rule.weight_decay);
  float& m = n.first;
  m = scalars.first ? g : std::fma(g, rule.undampened, m * rule.momentum);
  n.p = std::fma(-scalars.rate, rule.nesterov ? std::fma(m, rule.momentum, g) : m, n.p);
}

void update(const AdagradRule& rule, const StepScalars& scalars, float g, Number n) {
  g = with_weight_decay(g, n.p, rule.weight_decay);
  float& sum = n.first;
  sum = std::fma(g, g, sum);
  n.p = n.p - scalars.rate * g / (std::sqrt(sum) + rule.eps);
}

template <class AdamLike>
void update_moments(const AdamLike& rule, float g, float& m, float& v) {
  m = lerp(m, g, rule.fresh1);
  v = std::fma(rule.fresh2 * g, g, v * rule.keep2);
}

template <class AdamLike>
float direction(const AdamLike& rule, const StepScalars& scalars, float m, float v) {
  return scalars.rate * m / (std::sqrt(v) / scalars.correction + rule.eps);
}

void update(const AdamRule& rule, const StepScalars& scalars, float g, Number n) {
  update_moments(rule, with_weight_decay(g, n.p, rule.weight_decay), n.first, n.second);
  n.p = n.p + direction(rule, scalars, n.first, n.second);
}

void update(const SparseAdamWRule& rule, const StepScalars& scalars, float g, Number n) {
  update_moments(rule, g, n.first, n.second);
  n.p = n.p * scalars.decay + direction(rule, scalars, n.first, n.second);
}

void update(const SparseAdamRule& rule, const StepScalars& scalars, float g, Number n) {
  float& m = n.first;
  float& v = n.second;
  m = m + (g - m) * rule.fresh1;
  v = v + (g * g - v) * rule.fresh2;
  n.p = n.p + scalars.rate * (m / (std::sqrt(v) + rule.eps));
}

template <class ElementRule>
Number number_of(const ElementRule&, const Rows& rows, std::size_t row, std::size_t k) {
  const std::size_t dim = rows.table.dim(1);
  float& p = rows.table(row, k);
  if constexpr (ElementRule::kStates == 0) return {p, p, p};
  float* state = rows.state + row * ElementRule::kStates * dim + k;
  return {p, state[0], state[(ElementRule::kStates - 1) * dim]};
}

/// The gradient of column k as the rules see it.
template <class Gradient>
float finite_gradient(const Step& step, std::size_t row, std::size_t k, const Gradient& gradient) {
  const float g = gradient(k);
  if (std::isfinite(g)) return g;
  step.non_finite->report(row, k);
  return 0.0F;
}

template <class ElementRule, class Gradient>
void step_columns(const ElementRule& rule, const Step& step, std::size_t row, std::size_t begin, std::size_t end,
                  const Gradient& gradient) {
  for (std::size_t k = begin; k < end; ++k) {
    update(rule, step.scalars, finite_gradient(step, row, k, gradient), number_of(rule, step.rows, row, k));
  }
}

template <class Gradient>
void step_columns(const RowwiseAdagradRule& rule, const Step& step, std::size_t row, std::size_t begin, std::size_t end,
                  const Gradient& gradient) {
  std::array<float, RowwiseAdagradRule::kLanes> squares{};
  for (std::size_t k = begin; k < end; ++k) {
    const float g = finite_gradient(step, row, k, gradient);
    squares[k % squares.size()] += g * g;
  }
  for (std::size_t half = squares.size() / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) squares[j] += squares[j + half];
  }
  float& sum = step.rows.state[row];
  sum += squares[0] / static_cast<float>(end - begin);
  const float rate = step.scalars.rate / (std::sqrt(sum) + rule.eps);
  for (std::size_t k = begin; k < end; ++k) {
    step.rows.table(row, k) -= rate * finite_gradient(step, row, k, gradient);
  }
}

template <class Gradient>
void step_row(const Step& step, std::size_t row, std::size_t begin, std::size_t end, const Gradient& gradient) {
  std::visit([&](const auto& rule) { step_columns(rule, step, row, begin, end, gradient); }, step.rows.rule);
}

/// From zero, in ascending order of places.
float group_sum(const RowGroups& groups, const float* dout, std::size_t dim, std::size_t u, std::size_t k) {
  float sum = 0.0F;
  for (std::size_t i = groups.starts()[u]; i < groups.starts()[u + 1]; ++i) sum += dout[groups.places()[i] * dim + k];
  return sum;
}

}  // namespace

void step_group_reference(const GroupStep& job, std::size_t u, std::size_t begin, std::size_t end) {
  const std::size_t dim = job.step.rows.table.dim(1);
  step_row(job.step, job.groups.ids()[u], begin, end,
           [&](std::size_t k) { return group_sum(job.groups, job.dout, dim, u, k); });
}

void step_compact_row_reference(const CompactStep& job, std::size_t u) {
  const std::size_t dim = job.step.rows.table.dim(1);
  step_row(job.step, job.ids[u], 0, dim, [&](std::size_t k) { return job.gradient[u * dim + k]; });
}

void step_dense_row_reference(const DenseStep& job, std::size_t row) {
  const std::size_t dim = job.step.rows.table.dim(1);
  const std::span<const TokenId> ids = job.groups != nullptr ? job.groups->ids() : std::span<const TokenId>{};
  const auto found = std::ranges::lower_bound(ids, row);
  const bool grouped = found != ids.end() && *found == row;
  const auto u = static_cast<std::size_t>(found - ids.begin());
  step_row(job.step, row, 0, dim, [&](std::size_t k) {
    const float g = job.dtable[row * dim + k];
    return grouped ? g + group_sum(*job.groups, job.dout, dim, u, k) : g;
  });
}

void catch_up_row_reference(const CatchUp& job, std::size_t row) {
  std::uint32_t& taken = job.taken[row];
  if (taken == CatchUp::kFresh) return;
  NonFinite none;
  for (; taken < job.history.size(); ++taken) {
    const Step step = {job.rows, job.history[taken], &none};
    step_row(step, row, 0, job.rows.table.dim(1), [](std::size_t) { return 0.0F; });
  }
}

}  // namespace firstlayer::rule_kernels
