#include "firstlayer/train/checkpoint/atomic_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHiddenPrefix = ".firstlayer-folder-";
constexpr mode_t kNewFolderMode = 0777;  // less the umask

fs::path parent_of(const fs::path& folder) { return folder.has_parent_path() ? folder.parent_path() : fs::path("."); }

/// A new folder that no reader takes for data.
fs::path make_hidden(const fs::path& target) {
  std::random_device random;
  while (true) {
    fs::path hidden = parent_of(target) / std::string(kHiddenPrefix).append(std::to_string(random()));
    if (mkdir(hidden.c_str(), kNewFolderMode) == 0) return hidden;
    if (errno != EEXIST) throw_file_error(target, "make a folder for it", errno);
  }
}

/// Until a folder is on the disk, a power cut may still bring back what it held before.
void flush_folder(const fs::path& folder, const fs::path& target) {
  const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;  // a folder that may be written but not read
  const int flushed = fsync(directory);
  const int code = errno;
  close(directory);
  if (flushed != 0 && code != EINVAL) throw_file_error(target, "flush the folder to the disk", code);
}

}  // namespace

AtomicFolder::AtomicFolder(fs::path target) : target_(std::move(target)), hidden_(make_hidden(target_)) {}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!hidden_.empty()) fs::remove_all(hidden_, ignored);
}

void AtomicFolder::commit() {
  flush_folder(hidden_, target_);
  if (rename(hidden_.c_str(), target_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) throw_file_error(target_, "put the new folder in place", errno);
    // Both change names at once, so that at every moment one of them has the target's.
    if (renameat2(AT_FDCWD, hidden_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
      throw_file_error(target_, "put the new folder in place of the old", errno);
    }
    std::error_code ignored;
    fs::remove_all(hidden_, ignored);
  }
  hidden_.clear();
  flush_folder(parent_of(target_), target_);
}

void AtomicFolder::remove_abandoned(const fs::path& parent) {
  std::error_code error;
  std::vector<fs::path> abandoned;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    if (entry.path().filename().string().starts_with(kHiddenPrefix)) abandoned.push_back(entry.path());
  }
  for (const fs::path& folder : abandoned) fs::remove_all(folder, error);
  if (error) throw_file_error(parent, "remove what a kill has left", error.value());
}

void AtomicFolder::remove(const fs::path& folder) {
  const fs::path hidden = make_hidden(folder);
  if (rename(folder.c_str(), hidden.c_str()) != 0) throw_file_error(folder, "remove", errno);
  std::error_code error;
  fs::remove_all(hidden, error);
  if (error) throw_file_error(folder, "remove", error.value());
}

}  // namespace firstlayer
