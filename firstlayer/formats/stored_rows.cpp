#include "firstlayer/formats/stored_rows.h"

#include <cstring>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/half.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/formats/file_limits.h"

namespace firstlayer {
namespace {

/// Numbers of a file need not be aligned.
template <class T>
void convert(std::span<const std::byte> bytes, std::span<float> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    T value;
    std::memcpy(&value, bytes.data() + k * sizeof(T), sizeof(T));
    out[k] = static_cast<float>(value);
  }
}

}  // namespace

StoredRows::StoredRows(const SafetensorsFile& file, const StoredTensor& tensor)
    : bytes_(tensor.bytes), dtype_(tensor.dtype) {
  check(file.path(), "tensor " + quoted_text(tensor.name), tensor.shape);
}

StoredRows::StoredRows(const NpyFile& file, const std::filesystem::path& path)
    : bytes_(file.bytes()), dtype_(file.dtype()) {
  std::vector<std::size_t> shape = file.shape();
  if (shape.size() == 1) shape.insert(shape.begin(), 1);
  check(path, "array", shape);
}

void StoredRows::check(const std::filesystem::path& path, const std::string& what, std::span<const std::size_t> shape) {
  const bool floats = dtype_ == Dtype::kF32 || dtype_ == Dtype::kF16 || dtype_ == Dtype::kBF16 || dtype_ == Dtype::kF64;
  if (!floats || shape.size() != 2) {
    throw FormatError(path, what + ": expected a matrix of F32, F16, BF16 or F64, received " +
                                std::string(dtype_name(dtype_)) + " " + shape_text(shape) + "; " +
                                (floats ? "name another" : "convert it to float32 first"));
  }
  shape_ = {shape[0], shape[1]};
}

void StoredRows::read(std::span<const TokenId> ids, View<float, 2> out) const {
  if (out.shape() != Shape<2>{ids.size(), shape_[1]}) {
    throw_invalid("StoredRows::read", "room for rows of shape " + shape_text(Shape<2>{ids.size(), shape_[1]}),
                  shape_text(out.shape()));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= shape_[0]) {
      throw_out_of_range("StoredRows::read", "ids below V = " + std::to_string(shape_[0]), std::to_string(ids[i]));
    }
    read_row(ids[i], out[i]);
  }
}

Tensor<float, 2> StoredRows::read_all(unsigned threads) const {
  Tensor<float, 2> table(shape_);
  if (table.size() == 0) return table;
  parallel_for(shape_[0], threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) read_row(row, table.view()[row]);
  });
  return table;
}

void StoredRows::read_row(std::size_t row, std::span<float> out) const {
  const std::size_t row_bytes = out.size() * dtype_bytes(dtype_);
  const std::span<const std::byte> bytes = bytes_.subspan(row * row_bytes, row_bytes);
  switch (dtype_) {
    case Dtype::kF16:
      return convert<Float16>(bytes, out);
    case Dtype::kBF16:
      return convert<BFloat16>(bytes, out);
    case Dtype::kF64:
      return convert<double>(bytes, out);
    default:
      if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  }
}

}  // namespace firstlayer
