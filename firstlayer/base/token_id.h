#pragma once
// The number of a token in its vocabulary.

#include <cstdint>

namespace firstlayer {

/// 0 .. V-1. 32 bits hold every published vocabulary; files and PyTorch use 64-bit ids, converted at the edge.
using TokenId = std::uint32_t;

}  // namespace firstlayer
