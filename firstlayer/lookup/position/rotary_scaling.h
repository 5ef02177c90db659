#pragma once
// The frequencies of rotary positions, and the ways to stretch them to texts longer than a model was trained on.
// The names and defaults are those of transformers' "rope_type"; the formulas are their papers'.

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

namespace firstlayer {

/// theta[i] = base^(-2i / r) for the r numbers of a head that rotate. Su et al., "RoFormer", 2021.
struct NoScaling {};

/// Position interpolation: theta / factor. Chen et al., 2023.
struct LinearScaling {
  double factor;
};

/// NTK-aware: base * factor^(r / (r - 2)), which leaves the highest frequency and divides the lowest by factor.
struct NtkScaling {
  double factor;
};

/// NTK-aware by factor * length / original_context - (factor - 1) for texts longer than original_context.
struct DynamicNtkScaling {
  double factor;
  std::size_t original_context;  ///< ids the model was trained on
};

/// YaRN (Peng et al., 2023): frequencies that turn more than beta_fast times in the original context stay, those that
/// turn less than beta_slow times are divided by factor, and a ramp joins them.
struct YarnScaling {
  double factor;
  std::size_t original_context;
  double beta_fast = 32;
  double beta_slow = 1;
  bool truncate = true;                         ///< the ramp begins and ends at whole indices
  std::optional<double> attention_factor = {};  ///< 0.1 ln(factor) + 1 if not given
};

/// Llama 3.1: wavelengths above original_context / low_freq_factor are multiplied by factor, those below
/// original_context / high_freq_factor stay, and between them the frequencies are mixed.
struct Llama3Scaling {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  std::size_t original_context = 8192;
};

/// LongRoPE (Ding et al., 2024): each frequency has a divisor of its own, found by search: one list for texts up to
/// original_context, one for longer ones; r / 2 numbers each.
struct LongRopeScaling {
  std::vector<double> short_factors;
  std::vector<double> long_factors;
  double factor;  ///< longest context / original_context
  std::size_t original_context;
  std::optional<double> attention_factor = {};  ///< sqrt(1 + ln(factor) / ln(original_context)) if not given
};

using RotaryScaling =
    std::variant<NoScaling, LinearScaling, NtkScaling, DynamicNtkScaling, YarnScaling, Llama3Scaling, LongRopeScaling>;

struct RotaryFrequencies {
  std::vector<double> theta;    ///< (r / 2), radians from one position to the next
  double attention_factor = 1;  ///< cosines and sines are multiplied by it
};

/// The frequencies of `rotary_dim` rotating numbers for a text of `length` ids, on which the dynamic and LongRoPE
/// scalings depend: rotary_frequencies(4, 10000) has theta {1, 0.01}. Computed in double. Throws std::invalid_argument
/// for a rotary_dim that is odd or 0, a base that is not positive and finite, a factor below 1 or not finite, and
/// whatever else its scaling cannot be computed from.
RotaryFrequencies rotary_frequencies(std::size_t rotary_dim, double base, const RotaryScaling& scaling = NoScaling{},
                                     std::size_t length = 1);

}  // namespace firstlayer
