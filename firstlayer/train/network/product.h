#pragma once
// The one kernel that every matrix product of the network is made of. Internal to the library.

#include <cstddef>

#include "firstlayer/train/network/panels.h"
#include "firstlayer/train/network/prefetcher.h"

namespace firstlayer {

/// Where element (i, k) of the left operand lies.
enum class Left {
  kRows,     ///< a[i * stride + k]: a matrix row after row
  kColumns,  ///< a[k * stride + i]: a matrix by its columns
  kPanels,   ///< feature i of row k of panels, from each of which it is `stride` floats to the next
};

/// C (rows, 32) = A (rows, steps) B (steps, 32), summed over the steps in their order. The columns of C are a panel's
/// rows; or, with kPanels, B and C are rows of 32 features.
struct Product {
  Left left;
  const float* a;
  std::size_t stride;
  std::size_t steps;                ///< whole panels for kPanels
  const float* b;                   ///< (steps, 32), aligned to 64 bytes
  float* c;                         ///< aligned to 64 bytes
  std::size_t c_stride;             ///< floats from one row of C to the next
  bool add;                         ///< to what is in C
  std::size_t lanes = kPanelRows;   ///< columns that are wanted; the others may be written, too
  Prefetcher* meanwhile = nullptr;  ///< asks for memory while this is made
};

/// `rows` rows of C.
void product(const Product& job, std::size_t rows);
void product_reference(const Product& job, std::size_t rows);

/// to[j * to_stride + i] = from[i * from_stride + j] for i below rows and j below columns.
struct Transpose {
  const float* from;
  std::size_t from_stride;
  float* to;
  std::size_t to_stride;
};
void transpose(const Transpose& job, std::size_t rows, std::size_t columns);
void transpose_reference(const Transpose& job, std::size_t rows, std::size_t columns);

/// Rows of C that a processor's registers hold at most, and into which its rows are best cut.
inline constexpr std::size_t kStripRows = 12;

/// `rows` rows cut into strips of at most kStripRows, about as long as each other.
struct Strips {
  explicit Strips(std::size_t all) : rows(all), count((all + kStripRows - 1) / kStripRows) {}

  std::size_t begin(std::size_t strip) const { return rows * strip / count; }
  std::size_t size(std::size_t strip) const { return begin(strip + 1) - begin(strip); }

  std::size_t rows;
  std::size_t count;
};

/// Columns of a weight's gradient that are made at once: the right operand of so many stays in the cache.
inline constexpr std::size_t kChunk = 768;

}  // namespace firstlayer
