#pragma once
// The rows of a matrix that lies in a mapped file, as float32: only what is asked for is touched.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/formats/dtype.h"
#include "firstlayer/formats/npy.h"
#include "firstlayer/formats/safetensors.h"

namespace firstlayer {

/// A matrix (V, d) of F32, F16, BF16 or F64; one axis in an npy file is a matrix of one row. The file must outlive it.
class StoredRows {
 public:
  /// Throws FormatError naming the tensor, its type and its shape if it is anything else.
  StoredRows(const SafetensorsFile& file, const StoredTensor& tensor);
  StoredRows(const NpyFile& file, const std::filesystem::path& path);

  const Shape<2>& shape() const noexcept { return shape_; }

  /// Row ids[i] into out[i]; out (n, d). F64 is rounded to the nearest. Throws std::out_of_range naming an id that is
  /// no row, std::invalid_argument for another shape.
  void read(std::span<const TokenId> ids, View<float, 2> out) const;

  /// All of it, on `threads` threads, 0: all.
  Tensor<float, 2> read_all(unsigned threads = 0) const;

 private:
  void check(const std::filesystem::path& path, const std::string& what, std::span<const std::size_t> shape);
  void read_row(std::size_t row, std::span<float> out) const;

  std::span<const std::byte> bytes_;
  Dtype dtype_;
  Shape<2> shape_{};
};

}  // namespace firstlayer
