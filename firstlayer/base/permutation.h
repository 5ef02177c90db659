#pragma once
// The two shuffles behind Generator::permutation, apart so that both are tested. Internal to the library.

#include <cstddef>
#include <vector>

#include "firstlayer/base/random.h"

namespace firstlayer {

/// From this many elements on PyTorch shuffles with 64-bit draws: (2^32 - 1) / 20.
inline constexpr std::size_t kManyElements = 214'748'364;

/// Fisher-Yates from the front with one 32-bit draw a step.
std::vector<std::size_t> shuffle_few(std::size_t count, Generator& generator);

/// Fisher-Yates "inside out" with one 64-bit draw a step, free of the bias that 32 bits have on long ranges.
std::vector<std::size_t> shuffle_many(std::size_t count, Generator& generator);

}  // namespace firstlayer
