#include "firstlayer/lookup/position/position_ids.h"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

std::string place_text(std::size_t b, std::size_t t) {
  return "(b=" + std::to_string(b) + ", t=" + std::to_string(t) + ")";
}

/// `length` positions from `offset` on are ids.
void check_range(std::string_view where, std::size_t length, std::size_t offset) {
  constexpr std::size_t kMost = std::numeric_limits<TokenId>::max();
  if (offset > kMost || length > kMost - offset) {
    throw_out_of_range(where, "offset and length that together are below 2^32",
                       "offset = " + std::to_string(offset) + ", length = " + std::to_string(length));
  }
}

}  // namespace

Tensor<TokenId, 2> consecutive_positions(const Shape<2>& ids, std::size_t offset) {
  check_range("consecutive_positions", ids[1], offset);
  Tensor<TokenId, 2> positions(ids);
  const View<TokenId, 2> out = positions.view();
  for (std::size_t b = 0; b < ids[0]; ++b) {
    for (std::size_t t = 0; t < ids[1]; ++t) out(b, t) = static_cast<TokenId>(offset + t);
  }
  return positions;
}

Tensor<TokenId, 2> masked_positions(View<const std::uint8_t, 2> mask, const Shape<2>& ids, std::size_t offset,
                                    TokenId masked) {
  constexpr std::string_view kWhere = "masked_positions";
  const std::size_t columns = mask.dim(1);
  if (mask.dim(0) != ids[0] || columns < ids[1]) {
    throw_invalid(kWhere, "a mask (B, P + T) for ids (B, T) = " + shape_text(ids), shape_text(mask.shape()));
  }
  check_range(kWhere, columns, offset);
  const std::size_t cached = columns - ids[1];
  Tensor<TokenId, 2> positions(ids);
  const View<TokenId, 2> out = positions.view();
  for (std::size_t b = 0; b < ids[0]; ++b) {
    std::size_t next = offset;
    for (std::size_t column = 0; column < columns; ++column) {
      const std::uint8_t seen = mask(b, column);
      if (seen > 1) throw_invalid(kWhere, "a mask of 0 and 1", std::to_string(seen) + " at " + place_text(b, column));
      if (column >= cached) out(b, column - cached) = seen == 1 ? static_cast<TokenId>(next) : masked;
      next += seen;
    }
  }
  return positions;
}

Tensor<TokenId, 2> document_positions(IdView ids, TokenId end, std::size_t offset) {
  check_range("document_positions", ids.dim(1), offset);
  Tensor<TokenId, 2> positions(ids.shape());
  const View<TokenId, 2> out = positions.view();
  const auto fill = [&](const auto& view) {
    for (std::size_t b = 0; b < view.dim(0); ++b) {
      std::size_t next = offset;
      for (std::size_t t = 0; t < view.dim(1); ++t) {
        out(b, t) = static_cast<TokenId>(next);
        next = static_cast<std::int64_t>(view(b, t)) == end ? offset : next + 1;
      }
    }
  };
  std::visit(fill, ids.any());
  return positions;
}

void check_positions(std::string_view where, View<const TokenId, 2> positions, std::size_t context) {
  const auto flat = positions.flat();
  const auto bad = std::ranges::find_if(flat, [&](TokenId position) { return position >= context; });
  if (bad == flat.end()) return;
  const auto place = static_cast<std::size_t>(bad - flat.begin());
  throw_out_of_range(where, "positions below context = " + std::to_string(context),
                     std::to_string(*bad) + " at " + place_text(place / positions.dim(1), place % positions.dim(1)));
}

}  // namespace firstlayer
