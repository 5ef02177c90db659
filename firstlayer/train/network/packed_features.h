#pragma once
// The right operand of a weight's gradient. Internal to the library.

#include <cstddef>

#include "firstlayer/train/network/panels.h"

namespace firstlayer {

/// Blocks of 32 features, each with all rows: feature f of row r lies at (f / 32 * rows + r) * 32 + f % 32. Features
/// that fill up the last block are 0. With factors (rows,) each row is multiplied by its own.
void pack_features(ConstPanels from, const float* factors, float* packed, unsigned threads);

/// The floats of that.
inline std::size_t packed_size(std::size_t rows, std::size_t features) {
  return rows * panels_for(features) * kPanelRows;
}

}  // namespace firstlayer
