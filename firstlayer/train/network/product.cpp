// The product on vectors. docs/train.md has what each part of it gains.

#include "firstlayer/train/network/product.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/network/product.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::products::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kPanelRows / 2>;  // two vectors of them are at most as wide as a panel
using FloatVec = hn::Vec<Floats>;
constexpr std::size_t kVector = hn::MaxLanes(Floats());

/// Rows of C in registers at once: with two vectors of each, 24 of 32 registers, or 12 of 16.
constexpr std::size_t kTileRows = HWY_MAX_BYTES >= 64 || HWY_ARCH_ARM_A64 ? kStripRows : kStripRows / 2;

/// Adds `steps` steps, the left operand's from a on and the right one's from b on.
template <Left kLeft, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void accumulate(const float* a, std::size_t stride, std::size_t steps, const float* b,
                           FloatVec (&sums)[kRows][kVectors]) {
  const Floats df;
  // The addresses pointer, pointer + stride and pointer + 2 stride need one register for the pointer.
  constexpr std::size_t kPointers = kLeft == Left::kRows ? (kRows + 2) / 3 : 1;
  const float* pointers[kPointers];
  for (std::size_t i = 0; i < kPointers; ++i) pointers[i] = a + 3 * i * stride;
  for (std::size_t k = 0; k < steps; ++k, b += kPanelRows) {
    FloatVec right[kVectors];
    HWY_UNROLL(2) for (std::size_t j = 0; j < kVectors; ++j) right[j] = hn::Load(df, b + j * kVector);
    HWY_UNROLL(12) for (std::size_t i = 0; i < kRows; ++i) {
      const float* at = kLeft == Left::kRows      ? pointers[i / 3] + i % 3 * stride
                        : kLeft == Left::kColumns ? pointers[0] + i
                                                  : pointers[0] + i * kPanelRows;
      const FloatVec left = hn::Set(df, *at);
      HWY_UNROLL(2) for (std::size_t j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(left, right[j], sums[i][j]);
    }
    HWY_UNROLL(4) for (std::size_t i = 0; i < kPointers; ++i) pointers[i] += kLeft == Left::kColumns ? stride : 1;
  }
}

/// Where the left operand of step k lies.
template <Left kLeft>
HWY_INLINE std::size_t left_offset(const Product& job, std::size_t k) {
  if constexpr (kLeft == Left::kRows) return k;
  if constexpr (kLeft == Left::kColumns) return k * job.stride;
  return k / kPanelRows * job.stride;
}

/// kVectors vectors of kRows rows of C, from `column` on.
template <Left kLeft, std::size_t kRows, std::size_t kVectors>
HWY_NOINLINE void multiply_tile(const Product& job, const float* a, std::size_t column, float* c) {
  const Floats df;
  FloatVec sums[kRows][kVectors];
  HWY_UNROLL(12) for (std::size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(2) for (std::size_t j = 0; j < kVectors; ++j) sums[i][j] = hn::Zero(df);
  }
  if (job.add) {
    constexpr std::size_t kLine = 64 / sizeof(float);
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kVectors * kVector; j += kLine) hwy::Prefetch(c + i * job.c_stride + column + j);
    }
  }
  const std::size_t together = kLeft == Left::kPanels || job.meanwhile != nullptr ? kPanelRows : job.steps;
  for (std::size_t k = 0; k < job.steps; k += together) {
    const std::size_t steps = std::min(together, job.steps - k);
    if (job.meanwhile != nullptr) job.meanwhile->advance(steps * kRows * kVectors * kVector);
    accumulate<kLeft, kRows, kVectors>(a + left_offset<kLeft>(job, k), job.stride, steps,
                                       job.b + k * kPanelRows + column, sums);
  }
  HWY_UNROLL(12) for (std::size_t i = 0; i < kRows; ++i, c += job.c_stride) {
    HWY_UNROLL(2) for (std::size_t j = 0; j < kVectors; ++j) {
      float* to = c + column + j * kVector;
      hn::Store(job.add ? hn::Add(hn::Load(df, to), sums[i][j]) : sums[i][j], df, to);
    }
  }
}

using TileFunction = void (*)(const Product&, const float*, std::size_t, float*);

/// multiply_tile() for 1 … kTileRows rows.
template <Left kLeft, std::size_t kVectors, std::size_t... kBefore>
constexpr std::array<TileFunction, kTileRows> tile_functions(std::index_sequence<kBefore...>) {
  return {multiply_tile<kLeft, kBefore + 1, kVectors>...};
}

template <Left kLeft>
HWY_INLINE void multiply(const Product& job, std::size_t rows, std::size_t row_step) {
  static constexpr auto kWide = tile_functions<kLeft, 2>(std::make_index_sequence<kTileRows>());
  static constexpr auto kNarrow = tile_functions<kLeft, 1>(std::make_index_sequence<kTileRows>());
  for (std::size_t i = 0; i < rows; i += kTileRows) {
    const std::size_t last = std::min(kTileRows, rows - i) - 1;
    const float* a = job.a + i * row_step;
    float* c = job.c + i * job.c_stride;
    std::size_t column = 0;
    for (; column + kVector < job.lanes; column += 2 * kVector) kWide[last](job, a, column, c);
    if (column < job.lanes) kNarrow[last](job, a, column, c);
  }
}

void multiply_any(const Product& job, std::size_t rows) {
  switch (job.left) {
    case Left::kRows:
      return multiply<Left::kRows>(job, rows, job.stride);
    case Left::kColumns:
      return multiply<Left::kColumns>(job, rows, 1);
    case Left::kPanels:
      return multiply<Left::kPanels>(job, rows, kPanelRows);
  }
}

/// In blocks of 4 x 4.
void transpose_any(const Transpose& job, std::size_t rows, std::size_t columns) {
#if HWY_TARGET == HWY_SCALAR
  transpose_reference(job, rows, columns);
#else
  const hn::FixedTag<float, 4> df;
  const hn::FixedTag<double, 2> pairs;
  const std::size_t whole_rows = rows - rows % 4;
  const std::size_t whole_columns = columns - columns % 4;
  for (std::size_t j = 0; j < whole_columns; j += 4) {
    for (std::size_t i = 0; i < whole_rows; i += 4) {
      const float* from = job.from + i * job.from_stride + j;
      const auto row0 = hn::LoadU(df, from);
      const auto row1 = hn::LoadU(df, from + job.from_stride);
      const auto row2 = hn::LoadU(df, from + 2 * job.from_stride);
      const auto row3 = hn::LoadU(df, from + 3 * job.from_stride);
      const auto left01 = hn::BitCast(pairs, hn::InterleaveLower(df, row0, row1));
      const auto left23 = hn::BitCast(pairs, hn::InterleaveLower(df, row2, row3));
      const auto right01 = hn::BitCast(pairs, hn::InterleaveUpper(df, row0, row1));
      const auto right23 = hn::BitCast(pairs, hn::InterleaveUpper(df, row2, row3));
      float* to = job.to + j * job.to_stride + i;
      hn::StoreU(hn::BitCast(df, hn::InterleaveLower(pairs, left01, left23)), df, to);
      hn::StoreU(hn::BitCast(df, hn::InterleaveUpper(pairs, left01, left23)), df, to + job.to_stride);
      hn::StoreU(hn::BitCast(df, hn::InterleaveLower(pairs, right01, right23)), df, to + 2 * job.to_stride);
      hn::StoreU(hn::BitCast(df, hn::InterleaveUpper(pairs, right01, right23)), df, to + 3 * job.to_stride);
    }
  }
  const Transpose right = {job.from + whole_columns, job.from_stride, job.to + whole_columns * job.to_stride,
                           job.to_stride};
  transpose_reference(right, rows, columns - whole_columns);
  const Transpose below = {job.from + whole_rows * job.from_stride, job.from_stride, job.to + whole_rows,
                           job.to_stride};
  transpose_reference(below, rows - whole_rows, whole_columns);
#endif
}

}  // namespace firstlayer::products::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {
namespace products {
HWY_EXPORT(multiply_any);
HWY_EXPORT(transpose_any);
}  // namespace products

void product(const Product& job, std::size_t rows) {
  using namespace products;
  HWY_DYNAMIC_DISPATCH(multiply_any)(job, rows);
}

void transpose(const Transpose& job, std::size_t rows, std::size_t columns) {
  using namespace products;
  HWY_DYNAMIC_DISPATCH(transpose_any)(job, rows, columns);
}

}  // namespace firstlayer
#endif  // HWY_ONCE
