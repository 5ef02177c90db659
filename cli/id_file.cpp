#include "cli/id_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cli/output_path.h"
#include "firstlayer/base/errors.h"
#include "firstlayer/base/memory_map.h"
#include "firstlayer/formats/dtype.h"
#include "firstlayer/formats/npy.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kNarrowIds = std::size_t{1} << 16;
constexpr std::size_t kBlockIds = std::size_t{1} << 20;

template <class Integer>
std::vector<TokenId> ids_of(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::vector<TokenId> ids(bytes.size() / sizeof(Integer));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Integer id = 0;
    std::memcpy(&id, bytes.data() + i * sizeof(id), sizeof(id));
    if (!std::in_range<TokenId>(id)) throw FormatError(path, fmt::format("expected ids, received {} at {}", id, i));
    ids[i] = static_cast<TokenId>(id);
  }
  return ids;
}

}  // namespace

IdFileWriter::IdFileWriter(std::filesystem::path path, std::size_t vocabulary_size)
    : path_(std::move(path)), narrow_(vocabulary_size <= kNarrowIds) {
  if (path_.extension() == ".npy") {
    spool_.emplace(folder_of(path_));
  } else {
    file_.emplace(path_);
  }
}

void IdFileWriter::append(std::span<const TokenId> ids) {
  if (spool_) {
    spool_->append(ids);
  } else {
    file_->append(stored(ids));
  }
}

void IdFileWriter::commit() {
  if (file_) {
    file_->commit();
    return;
  }
  NpyWriter writer(path_, narrow_ ? Dtype::kU16 : Dtype::kU32, {spool_->size()});
  std::vector<TokenId> block;
  for (std::uint64_t first = 0; first < spool_->size(); first += block.size()) {
    block.resize(std::min<std::uint64_t>(kBlockIds, spool_->size() - first));
    spool_->read(first, block);
    writer.append(stored(block));
  }
  writer.commit();
}

std::span<const std::byte> IdFileWriter::stored(std::span<const TokenId> ids) {
  if (!narrow_) return std::as_bytes(ids);
  packed_.assign(ids.begin(), ids.end());
  return std::as_bytes(std::span(packed_));
}

std::vector<TokenId> read_id_file(const std::filesystem::path& path) {
  if (path.extension() == ".bin") {
    const MappedFile file(path);
    if (file.bytes().size() % sizeof(std::uint16_t) != 0) {
      throw FormatError(path, fmt::format("expected 16-bit ids, received {} bytes", file.bytes().size()));
    }
    return ids_of<std::uint16_t>(path, file.bytes());
  }
  const NpyFile file = NpyFile::open(path);
  if (file.shape().size() != 1) {
    throw FormatError(path, fmt::format("expected ids on one axis, received {} axes", file.shape().size()));
  }
  switch (file.dtype()) {
    case Dtype::kU16:
      return ids_of<std::uint16_t>(path, file.bytes());
    case Dtype::kU32:
      return ids_of<std::uint32_t>(path, file.bytes());
    case Dtype::kI32:
      return ids_of<std::int32_t>(path, file.bytes());
    case Dtype::kI64:
      return ids_of<std::int64_t>(path, file.bytes());
    default:
      throw FormatError(path, fmt::format("expected integers of 16 to 64 bits, received {}", dtype_name(file.dtype())));
  }
}

}  // namespace firstlayer::cli
