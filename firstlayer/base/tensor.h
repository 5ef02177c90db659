#pragma once
// Numbers in rows: a view that knows its shape and does not own, and a tensor that does.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "firstlayer/base/buffer.h"
#include "firstlayer/base/errors.h"

namespace firstlayer {

/// Sizes of the axes, outermost first: Shape<3>{B, T, d}.
template <std::size_t Rank>
using Shape = std::array<std::size_t, Rank>;

/// "(8, 4, 256)"; "(8,)" for one axis, as Python prints it.
std::string shape_text(std::span<const std::size_t> shape);

/// The product of the axes. Throws std::invalid_argument naming the shape if it does not fit std::size_t.
std::size_t element_count(std::span<const std::size_t> shape);

/// Row-major, contiguous elements that somebody else owns. As cheap to copy as a pointer.
template <class T, std::size_t Rank>
class View {
 public:
  static_assert(Rank >= 1);

  View() = default;

  /// Throws std::invalid_argument unless `data` holds exactly the product of `shape`:
  ///   [View] expected 8192 values for shape (8, 4, 256), received 32
  View(std::span<T> data, const Shape<Rank>& shape) : data_(data.data()), shape_(shape) {
    if (element_count(shape_) != data.size()) {
      throw_invalid("View", std::to_string(element_count(shape_)) + " values for shape " + shape_text(shape_),
                    std::to_string(data.size()));
    }
  }

  /// A view to write through is also one to read through.
  operator View<const T, Rank>() const requires(!std::is_const_v<T>) {
    return {data_, shape_, typename View<const T, Rank>::Unchecked{}};
  }

  const Shape<Rank>& shape() const noexcept { return shape_; }
  std::size_t dim(std::size_t axis) const { return shape_.at(axis); }
  T* data() const noexcept { return data_; }

  /// The number of elements.
  std::size_t size() const noexcept {
    std::size_t count = 1;
    for (std::size_t extent : shape_) count *= extent;
    return count;
  }

  /// All elements in row-major order.
  std::span<T> flat() const noexcept { return {data_, size()}; }

  /// One element; an index is not checked.
  template <class... Index>
  requires(sizeof...(Index) == Rank) T& operator()(Index... index) const noexcept {
    std::size_t offset = 0;
    std::size_t axis = 0;
    ((offset = offset * shape_[axis++] + static_cast<std::size_t>(index)), ...);
    return data_[offset];
  }

  /// Slice `index` of the outermost axis: a span of a matrix, a matrix of a (B, T, d) view. Not checked.
  auto operator[](std::size_t index) const noexcept requires(Rank >= 2) {
    if constexpr (Rank == 2) {
      return std::span<T>(data_ + index * shape_[1], shape_[1]);
    } else {
      Shape<Rank - 1> rest;
      std::size_t step = 1;
      for (std::size_t axis = 1; axis < Rank; ++axis) step *= rest[axis - 1] = shape_[axis];
      return View<T, Rank - 1>(data_ + index * step, rest, typename View<T, Rank - 1>::Unchecked{});
    }
  }

 private:
  template <class U, std::size_t R>
  friend class View;
  struct Unchecked {};
  View(T* data, const Shape<Rank>& shape, Unchecked) : data_(data), shape_(shape) {}

  T* data_ = nullptr;
  Shape<Rank> shape_{};
};

template <class T>
using Matrix = View<T, 2>;

/// Zeroed numbers that this object owns. It moves but is not copied by accident.
template <class T, std::size_t Rank>
class Tensor {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  Tensor() = default;
  explicit Tensor(const Shape<Rank>& shape) : shape_(shape), buffer_(bytes_for(shape)) {}

  /// What was moved from is empty: every axis is 0.
  Tensor(Tensor&& other) noexcept : shape_(std::exchange(other.shape_, {})), buffer_(std::move(other.buffer_)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    shape_ = std::exchange(other.shape_, {});
    buffer_ = std::move(other.buffer_);
    return *this;
  }

  const Shape<Rank>& shape() const noexcept { return shape_; }
  std::size_t dim(std::size_t axis) const { return shape_.at(axis); }
  std::size_t size() const { return element_count(shape_); }

  View<T, Rank> view() { return {std::span<T>(static_cast<T*>(buffer_.data()), size()), shape_}; }
  View<const T, Rank> view() const {
    return {std::span<const T>(static_cast<const T*>(buffer_.data()), size()), shape_};
  }
  operator View<T, Rank>() { return view(); }
  operator View<const T, Rank>() const { return view(); }
  std::span<T> flat() { return view().flat(); }
  std::span<const T> flat() const { return view().flat(); }

 private:
  static std::size_t bytes_for(const Shape<Rank>& shape) {
    std::array<std::size_t, Rank + 1> with_width;
    for (std::size_t axis = 0; axis < Rank; ++axis) with_width[axis] = shape[axis];
    with_width[Rank] = sizeof(T);
    return element_count(with_width);
  }

  Shape<Rank> shape_{};
  Buffer buffer_;
};

}  // namespace firstlayer
