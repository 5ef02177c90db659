#pragma once
// The checks between a .npy file's bytes and its array. No file is opened here, so that any bytes can be tried.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "firstlayer/formats/dtype.h"

namespace firstlayer {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyContent {
  Dtype dtype;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;  ///< inside `file`
};

/// NumPy's name of a type with its byte order: "<f4"; "" for BF16, which NumPy has not.
std::string_view npy_descr(Dtype dtype);

/// Reads a whole file's bytes. Throws FormatError for `path`.
NpyContent parse_npy(std::span<const std::byte> file, const std::filesystem::path& path);

}  // namespace firstlayer
