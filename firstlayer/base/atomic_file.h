#pragma once
// A file that appears whole or not at all.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace firstlayer {

/// Writes beside the target, then renames over it in commit(). Without commit() (an exception, a kill) the target is
/// as it was, and nothing is left beside it; only a kill on a file system without unnamed files can leave a hidden
/// .firstlayer-… file. A link is followed and stays. A file that is replaced hands on its permissions.
/// A target that exists and is not a regular file (a pipe, /dev/null) is written in place.
/// All members throw FileError naming the target.
class AtomicFile {
 public:
  /// Refuses at once a directory, a target that may not be written, and a folder that takes no new file.
  explicit AtomicFile(std::filesystem::path target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Small parts are gathered; an error may be reported by a later call. After an error nothing more can be written.
  void append(std::span<const std::byte> bytes);

  /// Flushes to the disk and puts the file in place. Nothing may be written after it (std::invalid_argument).
  void commit();

 private:
  void open_beside();
  void write_all(std::span<const std::byte> bytes);
  void publish();
  [[noreturn]] void fail(const char* action, int code);
  void abandon() noexcept;

  std::filesystem::path target_;
  std::filesystem::path resolved_;   ///< target_ without links: what is replaced
  std::filesystem::path temporary_;  ///< a name beside the target; empty while the file has no name
  std::vector<std::byte> pending_;   ///< appended and not yet written
  int file_ = -1;                    ///< -1 once committed or failed
  bool in_place_ = false;
};

/// A file with this content, whole or not at all. Throws as AtomicFile.
void write_whole(const std::filesystem::path& target, std::string_view content);

}  // namespace firstlayer
