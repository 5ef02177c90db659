#include "firstlayer/lookup/check_lookup.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/gradient.h"

namespace firstlayer {

namespace {

/// The message for `bad` at `place` of ids (B, T).
template <class Id>
[[noreturn]] void throw_bad_id(std::string_view where, const Shape<2>& table, View<const Id, 2> ids, std::size_t place,
                               bool all_below_dim, std::string_view expected) {
  const std::size_t length = ids.dim(1);
  std::string received = std::to_string(ids.flat()[place]) + " at (b=" + std::to_string(place / length) +
                         ", t=" + std::to_string(place % length) + ")";
  if (all_below_dim) {
    received += "; the table is (V, d) = " + shape_text(table) + " and every id is below d: are its sizes swapped?";
  }
  throw_out_of_range(where, std::string(expected) + " = " + std::to_string(table[0]), received);
}

template <class Id>
void check_range(std::string_view where, const Shape<2>& table, View<const Id, 2> ids, std::string_view expected) {
  // A negative id becomes one that is too large for any table; a conversion to the width of int32 could be a row.
  using Unsigned = std::conditional_t<std::is_signed_v<Id>, std::uint64_t, Id>;
  const std::uint64_t limit = std::min<std::uint64_t>(table[0], std::uint64_t{1} << 32);  // what a TokenId holds
  const std::span<const Id> flat = ids.flat();
  Unsigned highest = 0;
  for (const Id id : flat) highest = std::max(highest, static_cast<Unsigned>(id));
  if (highest < limit || flat.empty()) return;
  const auto bad = std::ranges::find_if(flat, [&](Id id) { return static_cast<Unsigned>(id) >= limit; });
  throw_bad_id(where, table, ids, static_cast<std::size_t>(bad - flat.begin()), highest < table[1], expected);
}

}  // namespace

void check_ids(std::string_view where, const Shape<2>& table, View<const TokenId, 2> ids) {
  check_range(where, table, ids, "ids below V");
}

CheckedIds::CheckedIds(std::string_view where, const Shape<2>& table, IdView ids, std::string_view expected) {
  std::visit(
      [&](const auto& any) {
        check_range(where, table, any, expected);
        if constexpr (std::is_same_v<decltype(any), const View<const TokenId, 2>&>) {
          view_ = any;
        } else {
          narrowed_.assign(any.flat().begin(), any.flat().end());
          view_ = {narrowed_, any.shape()};
        }
      },
      ids.any());
}

void check_out(std::string_view where, const Shape<2>& ids, std::size_t dim, View<float, 3> out) {
  const Shape<3> expected = {ids[0], ids[1], dim};
  if (out.shape() == expected) return;
  throw_invalid(where,
                "out of shape (B, T, d) = " + shape_text(expected) +
                    ", a vector for each id of shape (B, T) = " + shape_text(ids),
                shape_text(out.shape()));
}

void check_dout(std::string_view where, const Shape<2>& ids, std::size_t dim, View<const float, 3> dout) {
  const Shape<3> expected = {ids[0], ids[1], dim};
  if (dout.shape() != expected) {
    throw_invalid(where, "dout of shape (B, T, d) = " + shape_text(expected), shape_text(dout.shape()));
  }
}

std::optional<TokenId> check_padding(std::string_view where, std::optional<std::int64_t> padding_idx,
                                     std::size_t vocabulary) {
  if (!padding_idx) return std::nullopt;
  const auto rows = static_cast<std::int64_t>(vocabulary);
  if (*padding_idx < -rows || *padding_idx >= rows) {
    throw_out_of_range(where, "padding_idx from -V to V - 1 for V = " + std::to_string(vocabulary),
                       std::to_string(*padding_idx));
  }
  return static_cast<TokenId>(*padding_idx < 0 ? *padding_idx + rows : *padding_idx);
}

void check_row_gradient(std::string_view where, const RowGradient& gradient, const Shape<2>& table) {
  if (gradient.rows().dim(1) != table[1]) {
    throw_invalid(where, "a gradient of width " + std::to_string(table[1]) + " for a table " + shape_text(table),
                  shape_text(gradient.rows().shape()));
  }
  if (!gradient.ids().empty() && gradient.ids().back() >= table[0]) {
    throw_out_of_range(where, "ids below V = " + std::to_string(table[0]), std::to_string(gradient.ids().back()));
  }
}

}  // namespace firstlayer
