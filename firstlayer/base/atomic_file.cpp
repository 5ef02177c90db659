#include "firstlayer/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPendingBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxWrite = std::size_t{1} << 30;  // Linux writes at most 2 GiB - 4 KiB a call
constexpr int kMaxLinks = 40;                            // as the kernel's own limit
constexpr int kNewFileMode = 0666;                       // less the umask

/// Where the last of a chain of links points, whether or not a file is there yet.
fs::path follow_links(const fs::path& target) {
  fs::path path = target;
  for (int links = 0; links <= kMaxLinks; ++links) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(path, error))) return path;
    fs::path next = fs::read_symlink(path, error);
    if (error) throw_file_error(target, "read the link", error.value());
    path = path.parent_path() / next;
  }
  throw_file_error(target, "follow the link", ELOOP);
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// A name that no reader of the folder takes for data, short enough for any file system.
fs::path hidden_name(const fs::path& folder) {
  std::random_device random;
  char name[48];
  std::snprintf(name, sizeof(name), ".firstlayer-%08x%08x", random(), random());
  return folder / name;
}

/// Repeats `attempt` (a call that returns -1 with errno) with new hidden names while the name is taken.
template <class Attempt>
int with_hidden_name(const fs::path& folder, fs::path& name, Attempt attempt) {
  int result = -1;
  do {
    name = hidden_name(folder);
    result = attempt(name.c_str());
  } while (result < 0 && errno == EEXIST);
  return result;
}

std::string descriptor_path(int file) { return "/proc/self/fd/" + std::to_string(file); }

/// A file without a name in `folder`, or -1 where the file system or a missing /proc (which names it later) forbids.
int open_unnamed(const fs::path& folder) {
  int file = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewFileMode);
  if (file >= 0 && access(descriptor_path(file).c_str(), F_OK) != 0) {
    close(file);
    return -1;
  }
  return file;
}

}  // namespace

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target)) {
  if (!target_.has_filename()) throw FileError(target_, "expected the name of a file to write, received none");
  struct stat status;
  bool exists = stat(target_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw_file_error(target_, "write", errno);
  if (exists && S_ISDIR(status.st_mode)) {
    throw FileError(target_, "expected a file to write, received a directory; name a file inside it");
  }
  pending_.reserve(kPendingBytes);
  if (exists && !S_ISREG(status.st_mode)) {
    in_place_ = true;
    file_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) throw_file_error(target_, "write", errno);
    return;
  }
  if (exists && faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) throw_file_error(target_, "write", errno);
  resolved_ = follow_links(target_);
  open_beside();
  // Not every file system has permissions to set; the content matters more.
  if (exists) fchmod(file_, status.st_mode & 0777);
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::open_beside() {
  fs::path folder = folder_of(resolved_);
  file_ = open_unnamed(folder);
  if (file_ >= 0) return;
  fs::path name;
  file_ = with_hidden_name(
      folder, name, [](const char* path) { return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode); });
  if (file_ < 0) throw_file_error(target_, "create a file in " + folder.string(), errno);
  temporary_ = name;
}

void AtomicFile::append(std::span<const std::byte> bytes) {
  if (file_ < 0) throw_invalid("AtomicFile::append", "a file that is open", "one committed or failed");
  if (pending_.size() + bytes.size() > kPendingBytes) {
    write_all(pending_);
    pending_.clear();
  }
  if (bytes.size() >= kPendingBytes) {
    write_all(bytes);
  } else {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
}

void AtomicFile::commit() {
  if (file_ < 0) throw_invalid("AtomicFile::commit", "a file that is open", "one committed or failed");
  write_all(pending_);
  if (!in_place_) publish();
  int file = std::exchange(file_, -1);
  if (close(file) != 0 && errno != EINTR) throw_file_error(target_, "close", errno);
}

void AtomicFile::publish() {
  if (fsync(file_) != 0) fail("flush to the disk", errno);
  fs::path folder = folder_of(resolved_);
  if (temporary_.empty()) {
    // Only rename() replaces a file, and it needs a name to rename.
    std::string unnamed = descriptor_path(file_);
    fs::path name;
    int linked = with_hidden_name(folder, name, [&](const char* path) {
      return linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    });
    if (linked != 0) fail("name the new file", errno);
    temporary_ = name;
  }
  if (rename(temporary_.c_str(), resolved_.c_str()) != 0) fail("put the new file in place", errno);
  temporary_.clear();
  // The file is in place. Until its folder is on the disk too, a power cut may still bring back the old one.
  int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;  // a folder that may be written but not read
  int flushed = fsync(directory);
  int code = errno;
  close(directory);
  if (flushed != 0 && code != EINVAL) fail("flush the folder to the disk", code);
}

void AtomicFile::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(file_, bytes.data(), std::min(bytes.size(), kMaxWrite));
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      fail("write", written == 0 ? ENOSPC : errno);
    }
  }
}

void AtomicFile::fail(const char* action, int code) {
  abandon();
  throw_file_error(target_, action, code);
}

void AtomicFile::abandon() noexcept {
  if (file_ >= 0) close(std::exchange(file_, -1));
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

void write_whole(const fs::path& target, std::string_view content) {
  AtomicFile file(target);
  file.append(std::as_bytes(std::span(content.data(), content.size())));
  file.commit();
}

}  // namespace firstlayer
