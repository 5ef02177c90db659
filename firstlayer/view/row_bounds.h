#pragma once
// From the dot products of bytes to the rows that may still be neighbours: no row whose score could reach a threshold
// is left out. Internal to the library; docs/neighbors.md has the proof.

#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// What is known of rows, one number each, beside their bytes. Lengths are in a unit of the table's, so that nothing
/// overflows.
struct RowFactors {
  const float* scale;   ///< of the bytes
  const float* error;   ///< |x - rounded x|, rounded up with what float arithmetic may lose
  const float* size;    ///< |rounded x|, rounded up
  const float* offset;  ///< added to the dot product, rounded up
};

/// What is known of a query y, in a unit of its own.
struct QueryFactors {
  float scale = 0.0F;   ///< of the bytes
  float size = 0.0F;    ///< |y|, rounded up
  float error = 0.0F;   ///< |y - rounded y|, rounded up
  float offset = 0.0F;  ///< what a row's offset is multiplied by
};

/// A row that may be a neighbour, and the most its score can be.
struct Candidate {
  float bound;
  TokenId id;
};

/// Rows first .. first + dots.size() - 1 of a table: their factors, and the number of rows that exist.
struct RowRange {
  RowFactors factors;  ///< of row `first` and those after it
  TokenId first;
  std::size_t count;
};

/// Writes to `out` the rows of the range whose bound is not below `threshold`, ascending, and returns how many. The
/// bound is
///   dots[r] * scale * query.scale + (error * query.size + size * query.error) + offset * query.offset,
/// in float32 with each step rounded. `dots` has a number for each row, up to a multiple of 16; `out` has room for all.
std::size_t collect_sums_reference(const std::int32_t* dots, const RowRange& rows, const QueryFactors& query,
                                   float threshold, Candidate* out);
std::size_t collect_sums(const std::int32_t* dots, const RowRange& rows, const QueryFactors& query, float threshold,
                         Candidate* out);

/// Three queries a, b and c, whose numbers lie `stride` after each other: the bound is that of 3CosMul,
///   up(a) * up(c) / (down(b) + epsilon), where up and down are (1 + cosine) / 2 with its largest and its least cosine.
struct ProductQuery {
  QueryFactors a;
  QueryFactors b;
  QueryFactors c;
  float epsilon;
};
std::size_t collect_products_reference(const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                                       const ProductQuery& query, float threshold, Candidate* out);
std::size_t collect_products(const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                             const ProductQuery& query, float threshold, Candidate* out);

/// What a product of bounds is multiplied by, for the roundings of its four steps.
inline constexpr float kProductSlack = 1.0F + 0x1p-18F;

}  // namespace firstlayer
