#include "cli/id_file.h"

#include <algorithm>
#include <utility>

#include "cli/output_path.h"
#include "firstlayer/formats/npy.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kNarrowIds = std::size_t{1} << 16;
constexpr std::size_t kBlockIds = std::size_t{1} << 20;

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

}  // namespace firstlayer::cli
