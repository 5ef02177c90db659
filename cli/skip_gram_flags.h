#pragma once
// The flags of skip-gram, and what they ask of the library.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/flags.h"
#include "cli/text_input.h"
#include "firstlayer/train/skip_gram.h"

namespace firstlayer::cli {

struct SkipGramFlags {
  TextFlags text;
  bool tokens = false;
  std::optional<std::uint64_t> min_count;

  std::optional<std::uint64_t> dim;
  std::optional<std::string> weights;
  std::optional<std::string> tensor;

  std::uint64_t window = SkipGramOptions().window;
  std::uint64_t negatives = SkipGramOptions().negatives;
  double sample = SkipGramOptions().sample;
  std::uint64_t epochs = SkipGramOptions().epochs;
  double rate = SkipGramOptions().rate;
  double final_rate = SkipGramOptions().final_rate;
  std::uint64_t seed = SkipGramOptions().seed;

  std::optional<std::string> output;
};

void add_skip_gram_flags(CLI::App& app, SkipGramFlags& flags);

/// Throws Failure for flags that contradict each other and an --output that cannot be written.
void check_skip_gram_flags(const SkipGramFlags& flags);

SkipGramOptions skip_gram_options(const SkipGramFlags& flags, unsigned threads);

}  // namespace firstlayer::cli
