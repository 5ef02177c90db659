#include "firstlayer/lookup/gradient.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/check_lookup.h"

namespace firstlayer {
namespace {

std::vector<TokenId> different_ids(std::span<const TokenId> ids) {
  std::vector<TokenId> different(ids.begin(), ids.end());
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  return different;
}

}  // namespace

RowGradient lookup_gradient(const Shape<2>& table, View<const TokenId, 2> ids, View<const float, 3> dout) {
  const auto [V, d] = table;
  check_dout("lookup_gradient", ids, d, dout);
  check_ids("lookup_gradient", table, ids);

  RowGradient gradient{different_ids(ids.flat()), {}};
  gradient.rows = Tensor<float, 2>({gradient.ids.size(), d});
  std::vector<std::size_t> row_of(V);
  for (std::size_t u = 0; u < gradient.ids.size(); ++u) row_of[gradient.ids[u]] = u;
  const std::span<const TokenId> places = ids.flat();
  for (std::size_t place = 0; place < places.size(); ++place) {
    const std::span<float> row = gradient.rows.view()[row_of[places[place]]];
    for (std::size_t k = 0; k < d; ++k) row[k] += dout.flat()[place * d + k];
  }
  return gradient;
}

void descend(View<float, 2> table, const RowGradient& gradient, float rate) {
  if (gradient.rows.dim(1) != table.dim(1) || gradient.rows.dim(0) != gradient.ids.size()) {
    throw_invalid("descend",
                  "a gradient of shape (" + std::to_string(gradient.ids.size()) + ", " + std::to_string(table.dim(1)) +
                      ") for " + std::to_string(gradient.ids.size()) + " rows of a table " + shape_text(table.shape()),
                  shape_text(gradient.rows.shape()));
  }
  for (TokenId id : gradient.ids) {
    if (id >= table.dim(0)) {
      throw_out_of_range("descend", "ids below V = " + std::to_string(table.dim(0)), std::to_string(id));
    }
  }
  for (std::size_t u = 0; u < gradient.ids.size(); ++u) {
    const std::span<float> row = table[gradient.ids[u]];
    const std::span<const float> drow = gradient.rows.view()[u];
    for (std::size_t k = 0; k < row.size(); ++k) row[k] -= rate * drow[k];
  }
}

}  // namespace firstlayer
