#include <algorithm>

#include "firstlayer/view/row_bounds.h"

namespace firstlayer {
namespace {

struct Bounds {
  float value;
  float slack;
};

Bounds bounds_of(std::int32_t dot, const RowFactors& rows, std::size_t r, const QueryFactors& query) {
  return {static_cast<float>(dot) * (rows.scale[r] * query.scale),
          rows.error[r] * query.size + rows.size[r] * query.error};
}

}  // namespace

std::size_t collect_sums_reference(const std::int32_t* dots, const RowRange& rows, const QueryFactors& query,
                                   float threshold, Candidate* out) {
  std::size_t found = 0;
  for (std::size_t r = 0; r < rows.count; ++r) {
    const Bounds bounds = bounds_of(dots[r], rows.factors, r, query);
    const float bound = (bounds.value + bounds.slack) + rows.factors.offset[r] * query.offset;
    if (!(bound < threshold)) out[found++] = {bound, static_cast<TokenId>(rows.first + r)};
  }
  return found;
}

std::size_t collect_products_reference(const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                                       const ProductQuery& query, float threshold, Candidate* out) {
  std::size_t found = 0;
  for (std::size_t r = 0; r < rows.count; ++r) {
    const Bounds a = bounds_of(dots[r], rows.factors, r, query.a);
    const Bounds b = bounds_of(dots[stride + r], rows.factors, r, query.b);
    const Bounds c = bounds_of(dots[2 * stride + r], rows.factors, r, query.c);
    const float up_a = ((a.value + a.slack) + 1.0F) * 0.5F;
    const float up_c = ((c.value + c.slack) + 1.0F) * 0.5F;
    const float down_b = std::max(((b.value - b.slack) + 1.0F) * 0.5F, 0.0F);
    const float bound = ((up_a * up_c) / (down_b + query.epsilon)) * kProductSlack;
    if (!(bound < threshold)) out[found++] = {bound, static_cast<TokenId>(rows.first + r)};
  }
  return found;
}

}  // namespace firstlayer
