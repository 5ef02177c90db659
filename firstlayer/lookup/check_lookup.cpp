#include "firstlayer/lookup/check_lookup.h"

#include <algorithm>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {

void check_ids(std::string_view where, const Shape<2>& table, View<const TokenId, 2> ids) {
  const std::size_t vocabulary = table[0];
  const std::size_t dim = table[1];
  TokenId highest = 0;
  for (TokenId id : ids.flat()) highest = std::max(highest, id);
  if (highest < vocabulary || ids.size() == 0) return;

  const auto flat = ids.flat();
  const auto bad = std::ranges::find_if(flat, [&](TokenId id) { return id >= vocabulary; });
  const auto place = static_cast<std::size_t>(bad - flat.begin());
  const std::size_t length = ids.dim(1);
  std::string received =
      std::to_string(*bad) + " at (b=" + std::to_string(place / length) + ", t=" + std::to_string(place % length) + ")";
  if (highest < dim) {
    received += "; the table is (V, d) = " + shape_text(table) + " and every id is below d: are its sizes swapped?";
  }
  throw_out_of_range(where, "ids below V = " + std::to_string(vocabulary), received);
}

void check_out(std::string_view where, View<const TokenId, 2> ids, std::size_t dim, View<float, 3> out) {
  const Shape<3> expected = {ids.dim(0), ids.dim(1), dim};
  if (out.shape() == expected) return;
  throw_invalid(where,
                "out of shape (B, T, d) = " + shape_text(expected) +
                    ", a vector for each id of shape (B, T) = " + shape_text(ids.shape()),
                shape_text(out.shape()));
}

void check_dout(std::string_view where, View<const TokenId, 2> ids, std::size_t dim, View<const float, 3> dout) {
  const Shape<3> expected = {ids.dim(0), ids.dim(1), dim};
  if (dout.shape() != expected) {
    throw_invalid(where, "dout of shape (B, T, d) = " + shape_text(expected), shape_text(dout.shape()));
  }
}

}  // namespace firstlayer
