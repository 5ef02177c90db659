// The step of skip-gram on vectors. docs/skip_gram.md has what each part of it gains.

#include "firstlayer/train/skip_gram_kernels.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "firstlayer/train/skip_gram_margin.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/skip_gram_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::skip_gram::HWY_NAMESPACE {

// An instruction that rounds twice what the reference rounds once would give other bits.
#if HWY_NATIVE_FMA

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kLanes>;
using Vector = hn::Vec<Floats>;
constexpr std::size_t kVector = hn::MaxLanes(Floats());
constexpr std::size_t kVectors = kLanes / kVector;  // of all lanes

/// Room for the lanes of every row of a step; a vector beyond them is read when they are added, and not used.
using Lanes = std::array<float, kMaxStepRows * kLanes + kLanes>;

/// The lanes of u . v, before they are added.
HWY_INLINE void multiply_row(const float* u, const float* v, std::size_t count, float* lanes) {
  const Floats df;
  Vector sums[kVectors];
  for (Vector& sum : sums) sum = hn::Zero(df);
  for (std::size_t k = 0; k < count; k += kLanes) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const std::size_t at = k + i * kVector;
      sums[i] = hn::MulAdd(hn::Load(df, u + at), hn::Load(df, v + at), sums[i]);
    }
  }
  for (std::size_t i = 0; i < kVectors; ++i) hn::Store(sums[i], df, lanes + i * kVector);
}

/// Adds neighbours until each row has one number left: those of all rows stay side by side.
HWY_INLINE void add_lanes(float* lanes, std::size_t rows) {
  const Floats df;
  for (std::size_t left = kLanes / 2; left > 0; left /= 2) {
    for (std::size_t i = 0; i < rows * left; i += kVector) {
      const Vector low = hn::Load(df, lanes + 2 * i);
      const Vector high = hn::Load(df, lanes + 2 * i + kVector);
      hn::Store(hn::Add(hn::ConcatEven(df, high, low), hn::ConcatOdd(df, high, low)), df, lanes + i);
    }
  }
}

template <std::size_t kCount>
HWY_INLINE Vector polynomial(const std::array<float, kCount>& series, Vector x) {
  const Floats df;
  Vector value = hn::Set(df, series[0]);
  for (std::size_t i = 1; i < kCount; ++i) value = hn::MulAdd(value, x, hn::Set(df, series[i]));
  return value;
}

/// Turns dot products into what each row is pulled by, and adds the losses to theirs.
HWY_INLINE void weigh(const Step& step, float* HWY_RESTRICT dots, float* HWY_RESTRICT losses) {
  const Floats df;
  const hn::RebindToSigned<Floats> di;
  const Vector one = hn::Set(df, 1.0F);
  const Vector zero = hn::Zero(df);
  for (std::size_t i = 0; i < step.rows(); i += kVector) {
    const auto positive = hn::FirstN(df, step.positives - std::min<std::size_t>(step.positives, i));
    const Vector dot = hn::Load(df, dots + i);
    const Vector y = hn::IfThenElse(positive, dot, hn::Neg(dot));
    const auto right = hn::Gt(y, zero);
    Vector magnitude = hn::Abs(y);
    const Vector largest = hn::Set(df, kLargestMagnitude);
    magnitude = hn::IfThenElse(hn::Lt(magnitude, largest), magnitude, largest);
    const Vector halvings = hn::Round(hn::Mul(magnitude, hn::Set(df, kLog2E)));
    const Vector rest =
        hn::NegMulAdd(halvings, hn::Set(df, kLn2Low), hn::NegMulAdd(halvings, hn::Set(df, kLn2High), magnitude));
    const auto exponent = hn::Sub(hn::Set(di, 127), hn::ConvertTo(di, halvings));
    const Vector e = hn::Mul(polynomial(kExpSeries, rest), hn::BitCast(df, hn::ShiftLeft<23>(exponent)));

    const Vector slope = hn::Div(hn::IfThenElse(right, e, one), hn::Add(one, e));
    const Vector rate = hn::Set(df, step.rate);
    hn::Store(hn::Mul(hn::IfThenElse(positive, rate, hn::Neg(rate)), slope), df, dots + i);

    const Vector z = hn::Div(e, hn::Add(hn::Set(df, 2.0F), e));
    const Vector log = hn::Mul(z, polynomial(kLogSeries, hn::Mul(z, z)));
    const Vector loss = hn::Add(hn::IfThenElse(right, zero, hn::Neg(y)), log);
    float* sums = losses + i % kLanes;
    hn::Store(hn::Add(hn::Load(df, sums), hn::IfThenElseZero(hn::FirstN(df, step.rows() - i), loss)), df, sums);
  }
}

/// Moves kTile vectors of v and of each u, which stay in registers from the first row to the last.
template <std::size_t kTile>
HWY_INLINE void move_columns(float* outputs, std::size_t stride, const TokenId* rows, std::size_t count, const float* g,
                             float* v) {
  const Floats df;
  Vector before[kTile], sum[kTile];
  for (std::size_t j = 0; j < kTile; ++j) before[j] = sum[j] = hn::Load(df, v + j * kVector);
  for (std::size_t r = 0; r < count; ++r) {
    float* row = outputs + rows[r] * stride;
    const Vector weight = hn::Set(df, g[r]);
    for (std::size_t j = 0; j < kTile; ++j) {
      const Vector u = hn::Load(df, row + j * kVector);
      sum[j] = hn::MulAdd(weight, u, sum[j]);
      hn::Store(hn::MulAdd(weight, before[j], u), df, row + j * kVector);
    }
  }
  for (std::size_t j = 0; j < kTile; ++j) hn::Store(sum[j], df, v + j * kVector);
}

/// Columns from `k` on, in tiles of kTile vectors and then of what is left.
template <std::size_t kTile>
HWY_INLINE void move_rows(const Tables& tables, const TokenId* rows, std::size_t count, const float* g, float* v,
                          std::size_t k) {
  for (; k + kTile * kVector <= tables.stride; k += kTile * kVector) {
    move_columns<kTile>(tables.outputs + k, tables.stride, rows, count, g, v + k);
  }
  if constexpr (kTile > 1) {
    if (k < tables.stride) move_rows<kTile - 1>(tables, rows, count, g, v, k);
  }
}

HWY_INLINE void fetch(const float* row, std::size_t stride) {
  for (std::size_t k = 0; k < stride; k += 64 / sizeof(float)) hwy::Prefetch(row + k);
}

double run_steps(const Tables& tables, const StepList& list) {
  constexpr std::size_t kTile = kVector == 8 ? 4 : 8;  // twice that many vectors fit the registers
  constexpr std::size_t kBytesAhead = 8192;            // of output rows, which wait in the first-level cache
  const std::size_t ahead = std::max<std::size_t>(1, kBytesAhead / (tables.stride * sizeof(float)));
  alignas(64) Lanes lanes{};
  alignas(64) std::array<float, kLanes> losses{};
  std::size_t first = 0;
  for (std::size_t s = 0; s < list.steps.size(); ++s) {
    const Step& step = list.steps[s];
    const std::size_t count = step.rows();
    const TokenId* rows = list.rows.data() + first;
    float* v = tables.inputs + step.input * tables.stride;
    const Step& later = list.steps[std::min(s + 2, list.steps.size() - 1)];
    fetch(tables.inputs + later.input * tables.stride, tables.stride);
    for (std::size_t r = 0; r < count; ++r) {
      const TokenId next = list.rows[std::min(first + r + ahead, list.rows.size() - 1)];
      fetch(tables.outputs + next * tables.stride, tables.stride);
      multiply_row(tables.outputs + rows[r] * tables.stride, v, tables.stride, lanes.data() + r * kLanes);
    }
    add_lanes(lanes.data(), count);
    weigh(step, lanes.data(), losses.data());
    move_rows<kTile>(tables, rows, count, lanes.data(), v, 0);
    first += count;
  }
  double sum = 0.0;
  for (const float loss : losses) sum += loss;
  return sum;
}

#else

double run_steps(const Tables& tables, const StepList& list) { return run_reference(tables, list); }

#endif

}  // namespace firstlayer::skip_gram::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::skip_gram {

HWY_EXPORT(run_steps);

double run(const Tables& tables, const StepList& list) { return HWY_DYNAMIC_DISPATCH(run_steps)(tables, list); }

}  // namespace firstlayer::skip_gram
#endif  // HWY_ONCE
