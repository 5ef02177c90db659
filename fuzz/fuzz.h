#pragma once
// What every fuzz target is made of. A target is one function that must survive any bytes; libFuzzer calls it with
// bytes that it invents, replay_main.cpp with the files of the corpus.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "firstlayer/base/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace firstlayer::fuzzing {

/// Ends the process, as a crash does, if `property` does not hold.
inline void require(bool property, const char* what) {
  if (property) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// An error's message goes to a terminal: one line of UTF-8, and short however long the input is.
inline void require_printable(std::string_view message) {
  require(is_valid_utf8(message), "an error's message is UTF-8");
  for (char byte : message) require(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7F, "and has no controls");
  require(message.size() < 4000, "and is short");
}

}  // namespace firstlayer::fuzzing
