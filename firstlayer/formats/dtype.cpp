#include "firstlayer/formats/dtype.h"

#include <algorithm>
#include <array>
#include <bit>

namespace firstlayer {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor files are little-endian and are used as they are");

struct DtypeRow {
  std::string_view name;
  std::size_t bytes;
};

/// Indexed by Dtype.
constexpr std::array<DtypeRow, 13> kDtypes{{{"BOOL", 1},
                                            {"U8", 1},
                                            {"I8", 1},
                                            {"I16", 2},
                                            {"U16", 2},
                                            {"F16", 2},
                                            {"BF16", 2},
                                            {"I32", 4},
                                            {"U32", 4},
                                            {"F32", 4},
                                            {"F64", 8},
                                            {"I64", 8},
                                            {"U64", 8}}};

const DtypeRow& row(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t dtype_bytes(Dtype dtype) { return row(dtype).bytes; }

std::string_view dtype_name(Dtype dtype) { return row(dtype).name; }

std::optional<Dtype> find_dtype(std::string_view name) {
  auto found = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeRow& row) { return row.name == name; });
  if (found == kDtypes.end()) return std::nullopt;
  return static_cast<Dtype>(found - kDtypes.begin());
}

std::optional<std::uint64_t> tensor_bytes(Dtype dtype, std::span<const std::size_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = dtype_bytes(dtype);
  for (std::size_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace firstlayer
