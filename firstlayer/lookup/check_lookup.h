#pragma once
// What every lookup refuses, in the same words. Internal to the library.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/id_view.h"

namespace firstlayer {

class RowGradient;

/// Throws std::out_of_range if an id is not below V, for a table of shape (V, d).
///   [InputEmbedding::forward] expected ids below V = 50257, received 50300 at (b=3, t=7)
void check_ids(std::string_view where, const Shape<2>& table, View<const TokenId, 2> ids);

/// Ids of any width as the kernels read them, once they are known to be rows of a table.
class CheckedIds {
 public:
  /// Throws std::out_of_range as check_ids() if an id is negative or not below V, for a table of shape (V, d).
  /// `expected` is what the message calls them: "positions below context".
  CheckedIds(std::string_view where, const Shape<2>& table, IdView ids, std::string_view expected = "ids below V");
  CheckedIds(const CheckedIds&) = delete;  // the view may be of its own memory
  CheckedIds& operator=(const CheckedIds&) = delete;

  /// (B, T); 32-bit unsigned ids where they lie, others in the memory of this object.
  View<const TokenId, 2> view() const noexcept { return view_; }

 private:
  std::vector<TokenId> narrowed_;
  View<const TokenId, 2> view_;
};

/// Throws std::invalid_argument unless out is (B, T, d) for ids of shape (B, T).
void check_out(std::string_view where, const Shape<2>& ids, std::size_t dim, View<float, 3> out);

/// Throws std::invalid_argument unless dout is (B, T, d).
void check_dout(std::string_view where, const Shape<2>& ids, std::size_t dim, View<const float, 3> dout);

/// Throws std::invalid_argument for a gradient of another width than the table (V, d), std::out_of_range for an id that
/// is no row of it.
void check_row_gradient(std::string_view where, const RowGradient& gradient, const Shape<2>& table);

/// A padding_idx, of which negative ones count from the end, as an id below V = `vocabulary`. Throws std::out_of_range
/// unless it is in -V .. V-1.
std::optional<TokenId> check_padding(std::string_view where, std::optional<std::int64_t> padding_idx,
                                     std::size_t vocabulary);

}  // namespace firstlayer
