#pragma once
// npy: one array in a file, as numpy.save writes it.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "firstlayer/base/atomic_file.h"
#include "firstlayer/base/memory_map.h"
#include "firstlayer/formats/dtype.h"

namespace firstlayer {

/// An array inside a mapped file. Its bytes live as long as this object.
class NpyFile {
 public:
  /// Versions 1, 2 and 3; little-endian; row-major. Throws FileError or FormatError (big-endian, Fortran order, object
  /// arrays and other types are refused by name).
  static NpyFile open(const std::filesystem::path& path);

  Dtype dtype() const noexcept { return dtype_; }
  const std::vector<std::size_t>& shape() const noexcept { return shape_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  MappedFile file_;
  Dtype dtype_ = Dtype::kF32;
  std::vector<std::size_t> shape_;
  std::span<const std::byte> bytes_;
};

/// Writes one array in parts of any size; the bytes are those of numpy.save (version 1.0).
class NpyWriter {
 public:
  /// Writes the header. Throws FileError, and std::invalid_argument for BF16, which npy has not, and for a shape of
  /// more than 64 axes or whose bytes do not fit 64 bits.
  NpyWriter(const std::filesystem::path& path, Dtype dtype, const std::vector<std::size_t>& shape);

  /// The next bytes. Throws FileError, and std::invalid_argument past the end.
  void append(std::span<const std::byte> bytes);

  /// Puts the file in place. Throws FileError, and std::invalid_argument if bytes are missing.
  void commit();

 private:
  std::uint64_t missing_bytes_ = 0;
  AtomicFile file_;
};

}  // namespace firstlayer
