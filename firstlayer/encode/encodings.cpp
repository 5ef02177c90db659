#include "firstlayer/encode/encodings.h"

#include <array>

namespace firstlayer {

// Defined in the source that tools/compile_vocabulary.cpp writes during the build.
extern const std::span<const std::uint64_t> kGpt2Image;

namespace {

constexpr std::array<SpecialToken, 1> kGpt2Special = {{{"<|endoftext|>", 50256}}};

}  // namespace

std::span<const Encoding> encodings() {
  static const std::array<Encoding, 1> all = {{{"gpt2", kGpt2Image, kGpt2Special, 50256}}};
  return all;
}

}  // namespace firstlayer
