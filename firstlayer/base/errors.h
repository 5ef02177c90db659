#pragma once
// How the library reports trouble. A caller's mistake is std::invalid_argument or std::out_of_range with the words
// "[where] expected …, received …"; a file's is FileError or FormatError. Nothing else is thrown on purpose.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace firstlayer {

/// The operating system refused to open, read or write a file. what() is "PATH: problem".
class FileError : public std::runtime_error {
 public:
  FileError(std::filesystem::path path, const std::string& problem);

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// A file was read and its content is not what its format says. what() tells what was read and how to mend it.
class FormatError : public FileError {
 public:
  using FileError::FileError;
};

/// "[where] expected <expected>, received <received>".
std::string mismatch_message(std::string_view where, std::string_view expected, std::string_view received);

/// Throws std::invalid_argument with mismatch_message().
[[noreturn]] void throw_invalid(std::string_view where, std::string_view expected, std::string_view received);

/// Throws std::out_of_range with mismatch_message().
[[noreturn]] void throw_out_of_range(std::string_view where, std::string_view expected, std::string_view received);

/// Throws FileError for `path` with `action` ("open", "write", …) and the text of the errno value `code`.
[[noreturn]] void throw_file_error(const std::filesystem::path& path, std::string_view action, int code);

}  // namespace firstlayer
