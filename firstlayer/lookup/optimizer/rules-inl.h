// The formulas of rules.h on vectors. Included by rule_kernels.cpp once for each instruction set. Internal to the
// library.

#if defined(FIRSTLAYER_LOOKUP_OPTIMIZER_RULES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FIRSTLAYER_LOOKUP_OPTIMIZER_RULES_INL_H_
#undef FIRSTLAYER_LOOKUP_OPTIMIZER_RULES_INL_H_
#else
#define FIRSTLAYER_LOOKUP_OPTIMIZER_RULES_INL_H_
#endif

#include <array>
#include <cmath>
#include <cstddef>

#include "firstlayer/lookup/group_sum-inl.h"
#include "firstlayer/lookup/optimizer/rule_kernels.h"
#include "firstlayer/lookup/optimizer/rules.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::rule_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Numbers of a table with their states, as far as the rule has any.
template <class Tag>
struct Numbers {
  // Written out: GCC compiles implicit ones for another processor than Highway names, and then refuses to inline them.
  HWY_INLINE Numbers() {}  // NOLINT(modernize-use-equals-default)
  HWY_INLINE Numbers(hn::Vec<Tag> p_, hn::Vec<Tag> first_, hn::Vec<Tag> second_)
      : p(p_), first(first_), second(second_) {}

  hn::Vec<Tag> p;
  hn::Vec<Tag> first;
  hn::Vec<Tag> second;
};

template <class Tag, class ElementRule>
HWY_INLINE Numbers<Tag> load_numbers(Tag df, const ElementRule&, const Rows& rows, std::size_t row, std::size_t k) {
  const std::size_t dim = rows.table.shape()[1];
  const float* state = rows.state + row * ElementRule::kStates * dim + k;
  Numbers<Tag> numbers{hn::LoadU(df, rows.table.data() + row * dim + k), hn::Zero(df), hn::Zero(df)};
  if constexpr (ElementRule::kStates > 0) numbers.first = hn::LoadU(df, state);
  if constexpr (ElementRule::kStates > 1) numbers.second = hn::LoadU(df, state + dim);
  return numbers;
}

template <class Tag, class ElementRule>
HWY_INLINE void store_numbers(Tag df, const ElementRule&, const Rows& rows, std::size_t row, std::size_t k,
                              const Numbers<Tag>& numbers) {
  const std::size_t dim = rows.table.shape()[1];
  float* state = rows.state + row * ElementRule::kStates * dim + k;
  hn::StoreU(numbers.p, df, rows.table.data() + row * dim + k);
  if constexpr (ElementRule::kStates > 0) hn::StoreU(numbers.first, df, state);
  if constexpr (ElementRule::kStates > 1) hn::StoreU(numbers.second, df, state + dim);
}

/// The memory that a row's step reads.
template <class ElementRule>
HWY_INLINE std::array<firstlayer::HWY_NAMESPACE::RowMemory, 1 + ElementRule::kStates> memory_of(const ElementRule&,
                                                                                                const Rows& rows) {
  const std::size_t dim = rows.table.shape()[1];
  std::array<firstlayer::HWY_NAMESPACE::RowMemory, 1 + ElementRule::kStates> memory;
  memory[0] = {rows.table.data(), dim};
  for (std::size_t j = 0; j < ElementRule::kStates; ++j) {
    memory[1 + j] = {rows.state + j * dim, ElementRule::kStates * dim};
  }
  return memory;
}

/// RowwiseAdagradRule's sum.
HWY_INLINE float sum_of_squares(const float* g, std::size_t dim) {
  constexpr std::size_t kLanes = RowwiseAdagradRule::kLanes;
  const hn::CappedTag<float, kLanes> df;
  constexpr std::size_t kVectors = kLanes / hn::MaxLanes(df);
  const std::size_t lanes = hn::Lanes(df);
  hn::Vec<decltype(df)> squares[kVectors];
  for (auto& square : squares) square = hn::Zero(df);
  std::size_t k = 0;
  for (; k + kLanes <= dim; k += kLanes) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      const auto v = hn::LoadU(df, g + k + j * lanes);
      squares[j] = hn::Add(squares[j], hn::Mul(v, v));
    }
  }
  float sums[kLanes];
  for (std::size_t j = 0; j < kVectors; ++j) hn::StoreU(squares[j], df, sums + j * lanes);
  for (std::size_t j = 0; k + j < dim; ++j) sums[j] += g[k + j] * g[k + j];
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> lerp(Tag df, hn::Vec<Tag> from, hn::Vec<Tag> to, float weight) {
  const auto way = hn::Sub(to, from);
  if (weight < 0.5F) return hn::MulAdd(hn::Set(df, weight), way, from);
  return hn::MulAdd(hn::Set(df, weight - 1.0F), way, to);
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> direction(Tag df, float rate, hn::Vec<Tag> m, hn::Vec<Tag> denominator) {
  return hn::Div(hn::Mul(hn::Set(df, rate), m), denominator);
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> root_plus(Tag df, hn::Vec<Tag> square, float eps) {
  return hn::Add(hn::Sqrt(square), hn::Set(df, eps));
}

template <class Tag>
HWY_INLINE void update(Tag df, const SparseAdamRule& rule, const StepScalars& scalars, hn::Vec<Tag> g,
                       Numbers<Tag>& n) {
  auto& m = n.first;
  auto& v = n.second;
  m = hn::Add(m, hn::Mul(hn::Sub(g, m), hn::Set(df, rule.fresh1)));
  v = hn::Add(v, hn::Mul(hn::Sub(hn::Mul(g, g), v), hn::Set(df, rule.fresh2)));
  n.p = hn::Add(n.p, hn::Mul(hn::Set(df, scalars.rate), hn::Div(m, root_plus(df, v, rule.eps))));
}

#if HWY_NATIVE_FMA

template <class Tag>
HWY_INLINE hn::Vec<Tag> with_weight_decay(Tag df, hn::Vec<Tag> g, hn::Vec<Tag> p, float weight_decay) {
  return weight_decay != 0.0F ? hn::MulAdd(p, hn::Set(df, weight_decay), g) : g;
}

template <class Tag>
HWY_INLINE void update(Tag df, const SgdRule& rule, const StepScalars& scalars, hn::Vec<Tag> g, Numbers<Tag>& n) {
  g = with_weight_decay(df, g, n.p, rule.weight_decay);
  n.p = hn::NegMulAdd(hn::Set(df, scalars.rate), g, n.p);
}

template <class Tag>
HWY_INLINE void update(Tag df, const MomentumRule& rule, const StepScalars& scalars, hn::Vec<Tag> g, Numbers<Tag>& n) {
  g = with_weight_decay(df, g, n.p, rule.weight_decay);
  const auto momentum = hn::Set(df, rule.momentum);
  n.first = scalars.first ? g : hn::MulAdd(g, hn::Set(df, rule.undampened), hn::Mul(n.first, momentum));
  const auto step = rule.nesterov ? hn::MulAdd(n.first, momentum, g) : n.first;
  n.p = hn::NegMulAdd(hn::Set(df, scalars.rate), step, n.p);
}

template <class Tag>
HWY_INLINE void update(Tag df, const AdagradRule& rule, const StepScalars& scalars, hn::Vec<Tag> g, Numbers<Tag>& n) {
  g = with_weight_decay(df, g, n.p, rule.weight_decay);
  n.first = hn::MulAdd(g, g, n.first);
  n.p = hn::Sub(n.p, direction(df, scalars.rate, g, root_plus(df, n.first, rule.eps)));
}

/// The moments of Adam and AdamW; what they give to add to p.
template <class Tag, class AdamLike>
HWY_INLINE hn::Vec<Tag> adam_direction(Tag df, const AdamLike& rule, const StepScalars& scalars, hn::Vec<Tag> g,
                                       Numbers<Tag>& n) {
  auto& m = n.first;
  auto& v = n.second;
  m = lerp(df, m, g, rule.fresh1);
  v = hn::MulAdd(hn::Mul(hn::Set(df, rule.fresh2), g), g, hn::Mul(v, hn::Set(df, rule.keep2)));
  const auto corrected = hn::Div(hn::Sqrt(v), hn::Set(df, scalars.correction));
  return direction(df, scalars.rate, m, hn::Add(corrected, hn::Set(df, rule.eps)));
}

template <class Tag>
HWY_INLINE void update(Tag df, const AdamRule& rule, const StepScalars& scalars, hn::Vec<Tag> g, Numbers<Tag>& n) {
  const auto direction_of_p = adam_direction(df, rule, scalars, with_weight_decay(df, g, n.p, rule.weight_decay), n);
  n.p = hn::Add(n.p, direction_of_p);
}

template <class Tag>
HWY_INLINE void update(Tag df, const SparseAdamWRule& rule, const StepScalars& scalars, hn::Vec<Tag> g,
                       Numbers<Tag>& n) {
  const auto direction_of_p = adam_direction(df, rule, scalars, g, n);
  n.p = hn::Add(hn::Mul(n.p, hn::Set(df, scalars.decay)), direction_of_p);
}

#endif  // HWY_NATIVE_FMA

}  // namespace firstlayer::rule_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of each instruction set
