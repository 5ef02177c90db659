#include "cli/id_spool.h"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT: mkostemp is in the C header
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kTailIds = std::size_t{1} << 20;

int open_unnamed(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  // A file system without unnamed files: make one with a name and take the name away.
  std::string name = (folder / ".firstlayer-ids-XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

IdSpool::IdSpool(std::filesystem::path folder) : folder_(std::move(folder)) {}

IdSpool::~IdSpool() {
  if (file_ >= 0) close(file_);
}

void IdSpool::append(std::span<const TokenId> ids) {
  tail_.insert(tail_.end(), ids.begin(), ids.end());
  if (tail_.size() >= kTailIds) spill();
}

void IdSpool::spill() {
  if (file_ < 0) file_ = open_unnamed(folder_);
  if (file_ < 0) throw_file_error(folder_, "make a temporary file for ids in", errno);
  auto rest = std::as_bytes(std::span(tail_));
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_file_error(folder_, "write a temporary file of ids in", errno);
    }
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  in_file_ += tail_.size();
  tail_.clear();
}

void IdSpool::read(std::uint64_t first, std::span<TokenId> ids) const {
  if (first > size() || ids.size() > size() - first) {
    throw_out_of_range("IdSpool::read", "ids below " + std::to_string(size()),
                       std::to_string(first) + " and the " + std::to_string(ids.size()) + " from there on");
  }
  const std::uint64_t from_file = first < in_file_ ? std::min<std::uint64_t>(ids.size(), in_file_ - first) : 0;
  auto rest = std::as_writable_bytes(ids.first(from_file));
  std::uint64_t offset = first * sizeof(TokenId);
  while (!rest.empty()) {
    const ssize_t got = pread(file_, rest.data(), rest.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw_file_error(folder_, "read back a temporary file of ids in", got < 0 ? errno : EIO);
    rest = rest.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  const auto in_tail = ids.subspan(from_file);
  if (!in_tail.empty()) {
    const auto start = tail_.begin() + static_cast<std::ptrdiff_t>(first + from_file - in_file_);
    std::copy_n(start, in_tail.size(), in_tail.begin());
  }
}

}  // namespace firstlayer::cli
