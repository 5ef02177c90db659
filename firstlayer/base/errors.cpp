#include "firstlayer/base/errors.h"

#include <system_error>
#include <utility>

namespace firstlayer {

FileError::FileError(std::filesystem::path path, const std::string& problem)
    : std::runtime_error(path.string() + ": " + problem), path_(std::move(path)) {}

std::string mismatch_message(std::string_view where, std::string_view expected, std::string_view received) {
  std::string message = "[";
  message.append(where).append("] expected ").append(expected).append(", received ").append(received);
  return message;
}

void throw_invalid(std::string_view where, std::string_view expected, std::string_view received) {
  throw std::invalid_argument(mismatch_message(where, expected, received));
}

void throw_out_of_range(std::string_view where, std::string_view expected, std::string_view received) {
  throw std::out_of_range(mismatch_message(where, expected, received));
}

void throw_file_error(const std::filesystem::path& path, std::string_view action, int code) {
  throw FileError(path, "cannot " + std::string(action) + ": " + std::generic_category().message(code));
}

}  // namespace firstlayer
