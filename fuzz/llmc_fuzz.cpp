// parse_llmc(): any bytes give tensors that fill the file behind its header, or an error fit to print.

#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/train/checkpoint/llmc_file.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace firstlayer;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  try {
    const LlmcFile file = parse_llmc(bytes, "x");
    std::size_t total = 1024;
    for (const StoredTensor& tensor : file.stored) {
      fuzzing::require(tensor_bytes(tensor.dtype, tensor.shape) == tensor.bytes.size(),
                       "a tensor's bytes fit its shape");
      fuzzing::require(tensor.bytes.data() == bytes.data() + total, "the tensors lie one behind the other");
      total += tensor.bytes.size();
    }
    fuzzing::require(total == size, "and fill the file");
    fuzzing::require(file.padded_vocabulary >= file.config.vocabulary, "the table has the rows of the vocabulary");
    check_gpt_config(file.config);
  } catch (const FormatError& error) {
    fuzzing::require_printable(error.what());
  }
  return 0;
}
