#pragma once
// The published encodings that are compiled in: a vocabulary each, and its special tokens.

#include <cstdint>
#include <span>
#include <string_view>

#include "firstlayer/encode/special_tokens.h"

namespace firstlayer {

struct Encoding {
  std::string_view name;
  std::span<const std::uint64_t> image;  ///< see vocabulary_image.h
  std::span<const SpecialToken> special_tokens;
  TokenId end_of_text;
};

/// All of them, in the order in which they are listed to people.
std::span<const Encoding> encodings();

}  // namespace firstlayer
