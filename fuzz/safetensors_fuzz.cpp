// parse_safetensors(): any bytes give tensors that lie in the file one behind the other, or an error fit to print.

#include <cstring>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/safetensors_header.h"
#include "fuzz/fuzz.h"

namespace firstlayer {
namespace {

using fuzzing::require;

void parse(std::string_view file) {
  std::span<const std::byte> bytes = std::as_bytes(std::span<const char>(file.data(), file.size()));
  try {
    SafetensorsContent content = parse_safetensors(bytes, "x");
    std::size_t total = 0;
    for (const StoredTensor& tensor : content.tensors) {
      require(tensor_bytes(tensor.dtype, tensor.shape) == tensor.bytes.size(), "a tensor's bytes fit its shape");
      total += tensor.bytes.size();
    }
    const std::byte* next = bytes.data() + bytes.size() - total;
    for (const StoredTensor& tensor : content.tensors) {
      require(tensor.bytes.data() == next, "the tensors tile the end of the file");
      next += tensor.bytes.size();
    }
  } catch (const FormatError& error) {
    fuzzing::require_printable(error.what());
  }
}

/// The file with the length that its last brace says, so that inventing a header does not need a right length too.
std::string with_right_length(std::string file) {
  std::size_t brace = file.rfind('}');
  constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
  if (brace == std::string::npos || brace < kLengthBytes) return file;
  std::uint64_t length = brace + 1 - kLengthBytes;
  std::memcpy(file.data(), &length, kLengthBytes);
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
