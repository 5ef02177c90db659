#pragma once
// What an input layer refuses, forward and back, in the same words. Internal to the library.

#include <string_view>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/input_embedding.h"

namespace firstlayer {

/// What CheckedIds calls the positions of an input layer.
inline constexpr std::string_view kPositionsBelow = "positions below context";

/// Options of InputEmbedding::forward() for ids of shape (B, T). Throws as it, but for positions, whose numbers are
/// not looked at.
void check_input_options(std::string_view where, const InputOptions& options, const EmbeddingSizes& sizes,
                         const Shape<2>& ids);

}  // namespace firstlayer
