#pragma once
// A token table that takes a half or a quarter of the memory, to look rows up in: training goes on in float32.

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "firstlayer/base/half.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/formats/dtype.h"
#include "firstlayer/lookup/id_view.h"

namespace firstlayer {

/// Rows of 8-bit integers: value k of row i is values(i, k) * scales[i].
struct Int8Rows {
  Tensor<std::int8_t, 2> values;  ///< (V, d)
  std::vector<float> scales;      ///< (V,)
};

class StoredTable {
 public:
  using Rows = std::variant<Tensor<float, 2>, Tensor<BFloat16, 2>, Tensor<Float16, 2>, Int8Rows>;

  /// Takes a table (V, d) as a checkpoint holds it. Throws std::invalid_argument if it is empty or the scales are not
  /// V.
  explicit StoredTable(Rows rows);

  /// table (V, d) rounded to `dtype`, one of kF32, kBF16, kF16 and kI8. The halves take the nearest number, ties to
  /// even. kI8 is symmetric: the scale of a row is its largest magnitude / 127, and a value is the nearest multiple of
  /// it, ties to even, so that it is off by half a scale and a rounding. Throws std::invalid_argument for another
  /// dtype, an empty table, or with kI8 a value that is infinite or not a number, naming its row.
  static StoredTable rounded(View<const float, 2> table, Dtype dtype);

  const Shape<2>& shape() const noexcept;  ///< (V, d)
  Dtype dtype() const noexcept;
  std::size_t bytes() const noexcept;  ///< of the values and the scales

  /// out[b, t] = row ids[b, t] as float32, exactly, an 8-bit value times its scale in one rounding; ids (B, T), out
  /// (B, T, d). On `threads` threads, 0: all. Throws as lookup_rows().
  void lookup(IdView ids, View<float, 3> out, unsigned threads = 0) const;

 private:
  Rows rows_;
};

}  // namespace firstlayer
