#pragma once
// What a position scheme does later, in attention, with its first numbers: rotary, alibi and t5 leave the input tensor
// alone.

#include <string>

#include "cli/token_text.h"
#include "firstlayer/lookup/position/scheme.h"

namespace firstlayer::cli {

/// A line of the report, for sizes that are customary: what the numbers are for, and what happens to scores, queries
/// and keys.
struct PositionGlimpse {
  std::string sizes;   ///< "heads of 64"
  std::string effect;  ///< "q, k turn by t * theta: 1 0.7499 0.5623 ..."
};

/// In words; both are empty for a scheme that does not act in attention.
PositionGlimpse position_glimpse(PositionScheme scheme);

/// {"scheme": …, "role": …} and, for a scheme that acts in attention, the sizes and numbers.
Json position_json(PositionScheme scheme);

}  // namespace firstlayer::cli
