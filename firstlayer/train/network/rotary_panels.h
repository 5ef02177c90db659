#pragma once
// Rotary positions on activations in panels. Internal to the library.

#include <cstddef>

#include "firstlayer/lookup/position/rotary.h"
#include "firstlayer/train/network/panels.h"

namespace firstlayer {

/// Rotates the queries and keys of qkv (rows, 3d) in place, row r standing at position r % length: for each head what
/// table.rotate() does in its layout, kHalves being the pairing. Rows that fill up the last panel turn, too.
void rotate_queries_and_keys(const RotaryTable& table, std::size_t length, Panels qkv, unsigned threads);

/// From the gradient of the result to that of the argument, in place.
void rotate_gradient_back(const RotaryTable& table, std::size_t length, Panels dqkv, unsigned threads);

}  // namespace firstlayer
