#include "firstlayer/base/memory_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

/// A descriptor that closes itself.
class OpenFile {
 public:
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait. It means nothing to a regular file.
  explicit OpenFile(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_ < 0) throw_file_error(path, "open", errno);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(file_); }

  int get() const { return file_; }

 private:
  int file_;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  OpenFile file(path);
  struct stat status;
  if (fstat(file.get(), &status) != 0) throw_file_error(path, "read its size", errno);
  if (S_ISDIR(status.st_mode)) throw FileError(path, "expected a file, received a directory; name a file inside it");
  if (!S_ISREG(status.st_mode)) {
    throw FileError(path, "expected a regular file, received a pipe or device; save its content to a file first");
  }
  if (status.st_size == 0) return;
  if (static_cast<std::uintmax_t>(status.st_size) > SIZE_MAX) throw_file_error(path, "map", EFBIG);
  auto size = static_cast<std::size_t>(status.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) throw_file_error(path, "map", errno);
  bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace firstlayer
