// parse_npy(): any bytes give an array that is the end of the file, or an error fit to print.

#include <cstring>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/npy_header.h"
#include "fuzz/fuzz.h"

namespace firstlayer {
namespace {

using fuzzing::require;

void parse(std::string_view file) {
  std::span<const std::byte> bytes = std::as_bytes(std::span<const char>(file.data(), file.size()));
  try {
    NpyContent content = parse_npy(bytes, "x");
    require(tensor_bytes(content.dtype, content.shape) == content.bytes.size(), "the bytes fit the shape");
    require(content.bytes.data() + content.bytes.size() == bytes.data() + bytes.size(), "the array ends the file");
  } catch (const FormatError& error) {
    fuzzing::require_printable(error.what());
  }
}

/// The file with the length that its last brace says, so that inventing a header does not need a right length too.
std::string with_right_length(std::string file) {
  constexpr std::size_t kBeforeLength = 8;
  constexpr std::size_t kBeforeDict = kBeforeLength + sizeof(std::uint16_t);
  std::size_t brace = file.rfind('}');
  if (brace == std::string::npos || brace < kBeforeDict) return file;
  auto length = static_cast<std::uint16_t>(brace + 1 - kBeforeDict);
  std::memcpy(file.data() + kBeforeLength, &length, sizeof(length));
  return file;
}

}  // namespace
}  // namespace firstlayer

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  firstlayer::parse(file);
  firstlayer::parse(firstlayer::with_right_length(file));
  return 0;
}
