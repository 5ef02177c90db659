#include "cli/output_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cli/failure.h"
#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer::cli {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::filesystem::path checked_output(const std::string& flag, const std::filesystem::path& path,
                                     const std::vector<std::string>& extensions) {
  if (std::find(extensions.begin(), extensions.end(), path.extension().string()) == extensions.end()) {
    throw Failure(kUsage, fmt::format("{}: expected a file name that ends in {}, received \"{}\"", flag,
                                      fmt::join(extensions, " or "), printable(path.string())));
  }
  const std::filesystem::path folder = folder_of(path);
  if (std::filesystem::is_directory(path)) throw_file_error(path, "write", EISDIR);
  if (!std::filesystem::is_directory(folder)) {
    throw_file_error(path, "write", std::filesystem::exists(folder) ? ENOTDIR : ENOENT);
  }
  // What is no regular file is written in place and needs nothing of its folder.
  const bool in_place = std::filesystem::exists(path) && !std::filesystem::is_regular_file(path);
  if (!in_place && access(folder.c_str(), W_OK | X_OK) != 0) throw_file_error(path, "write", errno);
  return path;
}

}  // namespace firstlayer::cli
