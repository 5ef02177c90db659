#pragma once
// Numbers as coloured cells: negative blue, zero white, positive orange, with a sign in the cell where they are large,
// so that colour is not the only cue.

#include <span>
#include <string>

namespace firstlayer::cli {

/// One cell for each value, a column wide. `scale` is the magnitude that has the full colour; a sign stands in cells
/// from half of it on. Colours of 24 bits, or of 256.
std::string heat_strip(std::span<const float> values, float scale, bool true_color);

/// A scale for heat_strip(): twice the root mean square; 1 if all values are zero or one is not finite.
float heat_scale(std::span<const float> values);

}  // namespace firstlayer::cli
