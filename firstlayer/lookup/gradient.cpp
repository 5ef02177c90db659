#include "firstlayer/lookup/gradient.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/gradient_kernels.h"

namespace firstlayer {
namespace {

template <class Element>
void sum_places(const RowGroups& groups, View<const Element, 3> dout, RowGradient& gradient, unsigned threads) {
  const Shape<3> expected = {groups.batch()[0], groups.batch()[1], dout.dim(2)};
  if (dout.shape() != expected) {
    throw_invalid("lookup_gradient",
                  "dout of shape (B, T, d), a row for each id of shape (B, T) = " + shape_text(groups.batch()),
                  shape_text(dout.shape()));
  }
  gradient.assign(groups.ids(), dout.dim(2));
  gradient_kernels::sum_groups(groups, dout.data(), dout.dim(2), gradient.rows().data(), threads);
}

}  // namespace

void RowGradient::assign(std::span<const TokenId> ids, std::size_t dim) {
  for (std::size_t u = 1; u < ids.size(); ++u) {
    if (ids[u - 1] >= ids[u]) {
      throw_invalid("RowGradient", "different ids in ascending order",
                    std::to_string(ids[u - 1]) + " before " + std::to_string(ids[u]));
    }
  }
  ids_.assign(ids.begin(), ids.end());
  dim_ = dim;
  // Batches of one size have different numbers of rows: some room makes it unlikely that a later one needs more.
  const std::size_t wanted = element_count(Shape<2>{ids.size(), dim});
  if (memory_.size() < wanted) memory_ = Tensor<float, 1>({wanted + wanted / 4});
}

void lookup_gradient(const RowGroups& groups, View<const float, 3> dout, RowGradient& gradient, unsigned threads) {
  sum_places(groups, dout, gradient, threads);
}

void lookup_gradient(const RowGroups& groups, View<const BFloat16, 3> dout, RowGradient& gradient, unsigned threads) {
  sum_places(groups, dout, gradient, threads);
}

void lookup_gradient(const RowGroups& groups, View<const Float16, 3> dout, RowGradient& gradient, unsigned threads) {
  sum_places(groups, dout, gradient, threads);
}

RowGradient lookup_gradient(const Shape<2>& table, IdView ids, View<const float, 3> dout, unsigned threads) {
  check_dout("lookup_gradient", ids.shape(), table[1], dout);
  const CheckedIds checked("lookup_gradient", table, ids);
  RowGradient gradient;
  lookup_gradient(RowGroups(checked.view(), table[0]), dout, gradient, threads);
  return gradient;
}

void position_gradient(View<const float, 3> dout, View<float, 2> dpositions, unsigned threads) {
  const Shape<2> expected = {dout.dim(1), dout.dim(2)};
  if (dpositions.shape() != expected) {
    throw_invalid("position_gradient", "dpositions of shape (T, d) = " + shape_text(expected),
                  shape_text(dpositions.shape()));
  }
  gradient_kernels::sum_batch(dout.data(), dout.dim(0), dpositions.size(), dpositions.data(), threads);
}

void add_rows(const RowGradient& gradient, View<float, 2> dtable) {
  check_row_gradient("add_rows", gradient, dtable.shape());
  for (std::size_t u = 0; u < gradient.ids().size(); ++u) {
    const std::span<float> row = dtable[gradient.ids()[u]];
    const std::span<const float> drow = gradient.rows()[u];
    for (std::size_t k = 0; k < row.size(); ++k) row[k] += drow[k];
  }
}

void descend(View<float, 2> table, const RowGradient& gradient, float rate) {
  check_row_gradient("descend", gradient, table.shape());
  for (std::size_t u = 0; u < gradient.ids().size(); ++u) {
    const std::span<float> row = table[gradient.ids()[u]];
    const std::span<const float> drow = gradient.rows()[u];
    for (std::size_t k = 0; k < row.size(); ++k) row[k] -= rate * drow[k];
  }
}

}  // namespace firstlayer
