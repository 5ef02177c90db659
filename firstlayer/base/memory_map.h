#pragma once
// A file's bytes as memory, read-only, loaded page by page as they are touched.

#include <cstddef>
#include <filesystem>
#include <span>

namespace firstlayer {

/// The bytes of a regular file. Moves, is not copied; unmaps when it goes. An empty file gives an empty span.
/// A file that another process truncates while it is mapped ends this process with SIGBUS, as with any mapping.
class MappedFile {
 public:
  MappedFile() = default;
  /// Throws FileError if the file is missing, a directory, not a regular file, or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace firstlayer
