#pragma once
// The files that commands write.

#include <filesystem>
#include <string>
#include <vector>

namespace firstlayer::cli {

/// `path`, once it is sure that its extension is one of `extensions` and that its folder is there to write to, so that
/// hours of work do not end in a mistyped name. Throws Failure (usage) naming `flag`, or FileError.
std::filesystem::path checked_output(const std::string& flag, const std::filesystem::path& path,
                                     const std::vector<std::string>& extensions);

/// The folder that `path` lies in.
std::filesystem::path folder_of(const std::filesystem::path& path);

}  // namespace firstlayer::cli
