#pragma once
// A network that is quickly saved and computed, whose every number matters.

#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/train/network/gpt_adamw.h"
#include "firstlayer/train/network/gpt_network.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer::testing {

inline constexpr GptConfig kSmallNetwork = {.vocabulary = 61, .context = 10, .layers = 2, .heads = 4, .dim = 16};

inline GptParameters small_parameters(const GptConfig& config = kSmallNetwork, std::uint64_t seed = 5) {
  GptParameters parameters(config);
  Generator generator(seed);
  for (const NamedGradient& tensor : parameters.named()) {
    const bool norm = tensor.name.find("ln_") != std::string_view::npos && tensor.name.ends_with("weight");
    generator.fill_normal(tensor.numbers, norm ? 1.0 : 0.0, 0.25);
  }
  return parameters;
}

/// A step by gradients that are random: every moment and parameter moves.
inline void random_step(GptAdamW& optimizer, std::uint64_t seed) {
  GptParameters gradients(optimizer.parameters().config());
  Generator generator(seed);
  for (const NamedGradient& tensor : gradients.named()) generator.fill_normal(tensor.numbers, 0.0, 1.0);
  optimizer.step(gradients, 1);
}

inline std::vector<float> numbers_of(const GptParameters& parameters) {
  return {parameters.flat().begin(), parameters.flat().end()};
}

/// logits (B, T, V) in a row.
inline std::vector<float> logits_of(const GptParameters& parameters, IdView ids) {
  GptNetwork network(parameters, ids.shape(), {.threads = 1});
  Tensor<float, 3> logits({ids.dim(0), ids.dim(1), parameters.config().vocabulary});
  network.logits(ids, logits);
  return {logits.flat().begin(), logits.flat().end()};
}

}  // namespace firstlayer::testing
