// parse_gpt_config(), parse_shard_index() and gpt2_vocabulary_difference(): any text is read or refused with an error
// fit to print; a configuration that is read can be written and read again; a shard lies beside its index.

#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/train/checkpoint/gpt2_vocabulary_files.h"
#include "firstlayer/train/checkpoint/gpt_config_json.h"
#include "firstlayer/train/checkpoint/weight_files.h"
#include "fuzz/fuzz.h"

namespace firstlayer {
namespace {

template <class Parse>
void try_to(const Parse& parse) {
  try {
    parse();
  } catch (const FormatError& error) {
    fuzzing::require_printable(error.what());
  }
}

void check(std::string_view text) {
  try_to([&] {
    const GptConfig config = parse_gpt_config(text, "x");
    const GptConfig again = parse_gpt_config(gpt_config_json(config), "x");
    fuzzing::require(config_difference(config, again).empty(), "a configuration is written as it was read");
  });
  try_to([&] {
    for (const auto& [name, file] : parse_shard_index(text, "x")) {
      fuzzing::require(!file.empty() && file.find('/') == file.npos && file != "..", "a shard lies beside its index");
    }
  });
  try_to([&] { gpt2_vocabulary_difference(text, "x"); });
}

}  // namespace
}  // namespace firstlayer

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firstlayer::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
