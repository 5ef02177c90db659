#include "firstlayer/formats/npy.h"

#include <string>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/formats/file_limits.h"
#include "firstlayer/formats/npy_header.h"

namespace firstlayer {
namespace {

constexpr const char* kWhere = "NpyWriter";
constexpr std::size_t kHeaderAlignment = 64;
constexpr std::size_t kGrowthDigits = 21;

std::uint64_t checked_bytes(Dtype dtype, std::span<const std::size_t> shape) {
  if (npy_descr(dtype).empty()) throw_invalid(kWhere, "a type that NumPy has", dtype_name(dtype));
  if (shape.size() > kMaxAxes) {
    throw_invalid(kWhere, "at most " + std::to_string(kMaxAxes) + " axes", std::to_string(shape.size()));
  }
  std::optional<std::uint64_t> bytes = tensor_bytes(dtype, shape);
  if (!bytes) throw_invalid(kWhere, "a shape whose bytes fit 64 bits", shape_text(shape));
  return *bytes;
}

/// Magic, version 1.0, length and dict, padded to a multiple of 64 bytes.
std::string header_bytes(Dtype dtype, std::span<const std::size_t> shape) {
  std::string dict = "{'descr': '" + std::string(npy_descr(dtype)) +
                     "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  // Room for the first axis to grow in place, as NumPy leaves it.
  if (!shape.empty()) dict.append(kGrowthDigits - std::to_string(shape[0]).size(), ' ');
  std::string bytes(kNpyMagic);
  bytes.append("\x01\x00", 2);
  std::size_t before_dict = bytes.size() + sizeof(std::uint16_t);
  // NumPy pads with 1 to 64 spaces, never none.
  dict.append(kHeaderAlignment - (before_dict + dict.size() + 1) % kHeaderAlignment, ' ');
  dict += '\n';
  auto length = static_cast<std::uint16_t>(dict.size());  // 64 axes of 20 digits are far below 65,536
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  return bytes + dict;
}

}  // namespace

NpyFile NpyFile::open(const std::filesystem::path& path) {
  NpyFile opened;
  opened.file_ = MappedFile(path);
  NpyContent content = parse_npy(opened.file_.bytes(), path);
  opened.dtype_ = content.dtype;
  opened.shape_ = std::move(content.shape);
  opened.bytes_ = content.bytes;
  return opened;
}

NpyWriter::NpyWriter(const std::filesystem::path& path, Dtype dtype, const std::vector<std::size_t>& shape)
    : missing_bytes_(checked_bytes(dtype, shape)), file_(path) {
  std::string header = header_bytes(dtype, shape);
  file_.append(std::as_bytes(std::span<const char>(header)));
}

void NpyWriter::append(std::span<const std::byte> bytes) {
  if (bytes.size() > missing_bytes_) {
    throw_invalid("NpyWriter::append", "at most " + std::to_string(missing_bytes_) + " bytes left of the array",
                  std::to_string(bytes.size()));
  }
  file_.append(bytes);
  missing_bytes_ -= bytes.size();
}

void NpyWriter::commit() {
  if (missing_bytes_ > 0) {
    throw_invalid("NpyWriter::commit", "the whole array", std::to_string(missing_bytes_) + " bytes too few");
  }
  file_.commit();
}

}  // namespace firstlayer
