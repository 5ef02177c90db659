// The bounds on vectors: nearly always a whole register of rows is below the threshold, and nothing is written.

#include "firstlayer/view/row_bounds.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/view/row_bounds.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

/// The two parts of a bound for the rows from r on.
struct Parts {
  Vector value;
  Vector slack;
};

HWY_INLINE Parts parts_of(const std::int32_t* dots, const RowFactors& rows, std::size_t r, const QueryFactors& query) {
  const Floats df;
  const hn::RebindToSigned<Floats> di;
  const auto scale = hn::Mul(hn::LoadU(df, rows.scale + r), hn::Set(df, query.scale));
  const auto error = hn::Mul(hn::LoadU(df, rows.error + r), hn::Set(df, query.size));
  const auto size = hn::Mul(hn::LoadU(df, rows.size + r), hn::Set(df, query.error));
  return {hn::Mul(hn::ConvertTo(df, hn::LoadU(di, dots + r)), scale), hn::Add(error, size)};
}

/// Writes the rows from r on whose bound is not below the threshold.
HWY_INLINE std::size_t keep(Vector bound, Vector threshold, const RowRange& rows, std::size_t r, Candidate* out) {
  const Floats df;
  const auto below = hn::Lt(bound, threshold);
  if (HWY_LIKELY(hn::AllTrue(df, below))) return 0;
  alignas(64) float bounds[hn::MaxLanes(Floats())];
  hn::Store(bound, df, bounds);
  const float least = hn::GetLane(threshold);
  std::size_t found = 0;
  const std::size_t lanes = std::min(hn::Lanes(df), rows.count - r);
  for (std::size_t j = 0; j < lanes; ++j) {
    if (!(bounds[j] < least)) out[found++] = {bounds[j], static_cast<TokenId>(rows.first + r + j)};
  }
  return found;
}

std::size_t collect_sums_on_target(const std::int32_t* dots, const RowRange& rows, const QueryFactors& query,
                                   float threshold, Candidate* out) {
  const Floats df;
  const auto least = hn::Set(df, threshold);
  std::size_t found = 0;
  for (std::size_t r = 0; r < rows.count; r += hn::Lanes(df)) {
    const Parts parts = parts_of(dots, rows.factors, r, query);
    const auto offset = hn::Mul(hn::LoadU(df, rows.factors.offset + r), hn::Set(df, query.offset));
    const auto bound = hn::Add(hn::Add(parts.value, parts.slack), offset);
    found += keep(bound, least, rows, r, out + found);
  }
  return found;
}

std::size_t collect_products_on_target(const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                                       const ProductQuery& query, float threshold, Candidate* out) {
  const Floats df;
  const auto least = hn::Set(df, threshold);
  const auto one = hn::Set(df, 1.0F);
  const auto half = hn::Set(df, 0.5F);
  std::size_t found = 0;
  for (std::size_t r = 0; r < rows.count; r += hn::Lanes(df)) {
    const Parts a = parts_of(dots, rows.factors, r, query.a);
    const Parts b = parts_of(dots + stride, rows.factors, r, query.b);
    const Parts c = parts_of(dots + 2 * stride, rows.factors, r, query.c);
    const auto up_a = hn::Mul(hn::Add(hn::Add(a.value, a.slack), one), half);
    const auto up_c = hn::Mul(hn::Add(hn::Add(c.value, c.slack), one), half);
    const auto down_b = hn::Max(hn::Mul(hn::Add(hn::Sub(b.value, b.slack), one), half), hn::Zero(df));
    const auto quotient = hn::Div(hn::Mul(up_a, up_c), hn::Add(down_b, hn::Set(df, query.epsilon)));
    found += keep(hn::Mul(quotient, hn::Set(df, kProductSlack)), least, rows, r, out + found);
  }
  return found;
}

}  // namespace firstlayer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {

HWY_EXPORT(collect_sums_on_target);
HWY_EXPORT(collect_products_on_target);

std::size_t collect_sums(const std::int32_t* dots, const RowRange& rows, const QueryFactors& query, float threshold,
                         Candidate* out) {
  return HWY_DYNAMIC_DISPATCH(collect_sums_on_target)(dots, rows, query, threshold, out);
}

std::size_t collect_products(const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                             const ProductQuery& query, float threshold, Candidate* out) {
  return HWY_DYNAMIC_DISPATCH(collect_products_on_target)(dots, stride, rows, query, threshold, out);
}

}  // namespace firstlayer
#endif  // HWY_ONCE
