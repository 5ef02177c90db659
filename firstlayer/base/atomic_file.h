#pragma once
// A file that appears whole or not at all.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace firstlayer {

/// Writes beside the target, then renames over it in commit(). Without commit() (an exception, a kill) the target is
/// as it was, and nothing is left beside it. A target that exists and is not a regular file (a pipe, /dev/null) is
/// written in place. All members throw FileError naming the target.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void append(std::span<const std::byte> bytes);

  /// Flushes to the disk and puts the file in place. Nothing may be written after it.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;  ///< a name beside the target, where the file system has no unnamed files
  int file_ = -1;
  bool in_place_ = false;
};

}  // namespace firstlayer
