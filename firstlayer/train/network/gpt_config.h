#pragma once
// What a GPT-2 is made of: sizes, and the few choices that a table can be trained under.

#include <cstddef>
#include <string_view>

#include "firstlayer/lookup/position/scheme.h"

namespace firstlayer {

/// Pre-norm blocks with a GELU (tanh) between 4 d hidden units, as OpenAI's GPT-2 ("gelu_new" in its config.json). The
/// defaults are GPT-2's 124 million parameters.
struct GptConfig {
  std::size_t vocabulary = 50257;  ///< V
  std::size_t context = 1024;      ///< the most ids in a row
  std::size_t layers = 12;         ///< 0 is allowed: norm and head right above the input, a log-bilinear model
  std::size_t heads = 12;
  std::size_t dim = 768;  ///< d, a multiple of heads
  bool tied = true;       ///< the output head is the token table; otherwise it has a table of its own
  /// kLearned has a table; the sinusoidal ones are added, too; kRotary and kAlibi act in attention; kNone. Not kT5.
  PositionScheme position = PositionScheme::kLearned;
  double norm_eps = 1e-5;
  double rotary_base = 10000;  ///< of kRotary alone

  std::size_t head_dim() const { return dim / heads; }
};

/// Throws std::invalid_argument for what no network can be made of:
///   [GptConfig] expected dim = 768 to be a multiple of heads, received heads = 7
void check_gpt_config(const GptConfig& config);

/// "nano" (3 layers, 3 heads, d = 48), "micro" (4, 4, 128), "gpt2" (12, 12, 768), "gpt2-medium" (24, 16, 1024),
/// "gpt2-large" (36, 20, 1280) and "gpt2-xl" (48, 25, 1600), with GPT-2's vocabulary and context. Throws
/// std::invalid_argument that lists the names.
GptConfig gpt_preset(std::string_view name);

}  // namespace firstlayer
