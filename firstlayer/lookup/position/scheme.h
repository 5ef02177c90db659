#pragma once
// The ways in which a model learns where a token stands, and at which step each of them acts.

#include <span>
#include <string_view>

namespace firstlayer {

enum class PositionScheme {
  kLearned,         ///< a table (context, d) that training moves: GPT-2
  kSinusoidal,      ///< sines and cosines in turn: the Transformer's paper (sinusoidal.h)
  kSinusoidalHalf,  ///< first the sines, then the cosines: tensor2tensor (sinusoidal.h)
  kRotary,          ///< RoPE (rotary.h)
  kAlibi,           ///< attention with linear biases (alibi.h)
  kT5,              ///< a learned number for each range of distances (relative_bias.h)
  kNone,
};

/// Where a scheme acts. Only what is added is part of the input tensor; the others wait for attention.
enum class PositionRole {
  kNone,
  kAdded,                  ///< x[b, t] = E[ids[b, t]] + P[t]
  kRotatesQueriesAndKeys,  ///< in every layer, before the scores
  kBiasesScores,           ///< a number for each head and distance, added to query times key
};

/// position_role(PositionScheme::kAlibi) == PositionRole::kBiasesScores.
PositionRole position_role(PositionScheme scheme);

/// "learned", "sinusoidal", "sinusoidal-half", "rotary", "alibi", "t5" or "none".
std::string_view scheme_name(PositionScheme scheme);

/// The scheme of that name. Throws std::invalid_argument that lists the names.
PositionScheme find_scheme(std::string_view name);

/// All of them, in the order of the enumeration.
std::span<const PositionScheme> position_schemes();

}  // namespace firstlayer
