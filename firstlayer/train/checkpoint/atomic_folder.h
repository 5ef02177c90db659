#pragma once
// A folder that appears whole or not at all. Internal to the library.

#include <filesystem>

namespace firstlayer {

/// Files are written into a hidden folder beside the target, which takes the target's name in commit(). Without
/// commit() the target is as it was and nothing is left beside it; a kill can leave a hidden folder, which
/// remove_abandoned() takes away. All members throw FileError naming the target.
class AtomicFolder {
 public:
  explicit AtomicFolder(std::filesystem::path target);
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  ~AtomicFolder();

  /// Where to write, with AtomicFile, which flushes each file to the disk.
  const std::filesystem::path& path() const { return hidden_; }

  /// Puts the folder in place and flushes the parent to the disk. A folder that has the target's name goes.
  void commit();

  /// Removes what kills have left in `parent`. Nobody else may be writing there.
  static void remove_abandoned(const std::filesystem::path& parent);

  /// Takes a folder away so that a kill leaves it whole or gone under its name.
  static void remove(const std::filesystem::path& folder);

 private:
  std::filesystem::path target_;
  std::filesystem::path hidden_;  ///< empty once committed
};

}  // namespace firstlayer
