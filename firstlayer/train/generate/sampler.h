#pragma once
// Which token comes next, by the logits of all.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// The likeliest token, or one drawn from softmax(logits / temperature) of those that top_k and then top_p leave. Where
/// order matters, a higher logit comes first, and of equal ones the lower id.
struct SamplerOptions {
  bool greedy = false;     ///< the first in that order; what follows is not used
  double temperature = 1;  ///< above 0; below 1 the likely become likelier
  std::size_t top_k = 0;   ///< only the first k tokens; 0: all
  double top_p = 1;        ///< the fewest first tokens whose probabilities, after top_k, sum to this; at least one
};

/// Draws tokens one after the other; the same options, seed and logits give the same tokens.
class Sampler {
 public:
  /// Throws std::invalid_argument for a temperature that is not above 0 and finite, or a top_p outside (0, 1].
  explicit Sampler(const SamplerOptions& options, std::uint64_t seed = 0);

  /// Takes 53 random bits u from the generator, two draws, unless it is greedy; the token is the first in the order of
  /// ids at which the sum of probabilities exceeds u. Throws std::invalid_argument naming a logit that is NaN or +inf,
  /// or if there is none above -inf.
  TokenId sample(std::span<const float> logits);

 private:
  struct Candidate {
    TokenId id;
    float logit;
    double weight;  ///< exp((logit - the largest) / temperature)
  };

  static bool comes_first(const Candidate& left, const Candidate& right);
  void keep_top_k();
  void keep_top_p();

  SamplerOptions options_;
  Generator generator_;
  std::vector<Candidate> candidates_;
};

}  // namespace firstlayer
