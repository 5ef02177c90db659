#pragma once
// Ids as they come: a file holds them in 16 bits, a tokenizer in 32, PyTorch in 64.

#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// The integers that ids come in.
template <class T>
concept IdInteger = std::is_same_v<T, std::uint16_t> || std::is_same_v<T, std::int32_t> ||
    std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::int64_t>;

/// Ids (B, T) of any of those widths that somebody else owns. What takes an IdView takes a View or a Tensor of them.
/// 32-bit unsigned ids are read where they lie; others are first copied into that form, 4 bytes each.
class IdView {
 public:
  using Any = std::variant<View<const std::uint32_t, 2>, View<const std::uint16_t, 2>, View<const std::int32_t, 2>,
                           View<const std::int64_t, 2>>;

  template <IdInteger T>
  IdView(View<const T, 2> ids) : ids_(ids) {}
  template <IdInteger T>
  IdView(View<T, 2> ids) : ids_(View<const T, 2>(ids)) {}
  template <IdInteger T>
  IdView(const Tensor<T, 2>& ids) : ids_(ids.view()) {}
  /// Throws std::invalid_argument unless `ids` holds exactly the product of `shape`.
  IdView(std::span<const TokenId> ids, const Shape<2>& shape) : ids_(View<const TokenId, 2>(ids, shape)) {}

  const Shape<2>& shape() const noexcept {
    return std::visit([](const auto& ids) -> const Shape<2>& { return ids.shape(); }, ids_);
  }
  std::size_t dim(std::size_t axis) const { return shape().at(axis); }
  const Any& any() const noexcept { return ids_; }

 private:
  Any ids_;
};

}  // namespace firstlayer
