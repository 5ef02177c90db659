#include "firstlayer/lookup/position/rotary_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

constexpr std::string_view kWhere = "rotary_frequencies";

void require_factor(double factor) {
  if (!(factor >= 1) || std::isinf(factor)) throw_invalid(kWhere, "a factor of at least 1", std::to_string(factor));
}

void require_positive(std::string_view name, double value) {
  if (value > 0 && std::isfinite(value)) return;
  throw_invalid(kWhere, std::string(name).append(" above 0"), std::to_string(value));
}

void require_original_context(std::size_t context, std::size_t least = 1) {
  if (context >= least) return;
  throw_invalid(kWhere, "an original_context of at least " + std::to_string(least), std::to_string(context));
}

void require_attention_factor(const std::optional<double>& factor) {
  if (factor) require_positive("an attention_factor", *factor);
}

std::vector<double> unscaled(std::size_t rotary_dim, double base) {
  std::vector<double> theta(rotary_dim / 2);
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim));
  }
  return theta;
}

/// The base for which the lowest frequency is `factor` times lower. A single frequency is base^0, whatever the base.
double stretched_base(std::size_t rotary_dim, double base, double factor) {
  if (rotary_dim == 2) return base;
  return base * std::pow(factor, static_cast<double>(rotary_dim) / static_cast<double>(rotary_dim - 2));
}

/// Where YaRN's ramp from unchanged to divided frequencies begins and ends, as indices of theta.
struct Ramp {
  double begin;
  double end;

  /// 0 before the ramp, 1 behind it.
  double at(std::size_t i) const { return std::clamp((static_cast<double>(i) - begin) / (end - begin), 0.0, 1.0); }
};

Ramp yarn_ramp(std::size_t rotary_dim, double base, const YarnScaling& yarn) {
  const auto width = static_cast<double>(rotary_dim);
  // The (fractional) index whose frequency turns so many times in the original context.
  const auto index_of = [&](double turns) {
    return width * std::log(static_cast<double>(yarn.original_context) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(base));
  };
  double begin = index_of(yarn.beta_fast);
  double end = index_of(yarn.beta_slow);
  if (yarn.truncate) {
    begin = std::floor(begin);
    end = std::ceil(end);
  }
  begin = std::max(begin, 0.0);
  end = std::min(end, width - 1);
  if (begin == end) end += 0.001;  // a step, as published
  return {begin, end};
}

/// Computes the frequencies of each kind of scaling.
struct Scaler {
  std::size_t rotary_dim;
  double base;
  std::size_t length;

  RotaryFrequencies operator()(const NoScaling&) const { return {unscaled(rotary_dim, base)}; }

  RotaryFrequencies operator()(const LinearScaling& linear) const {
    require_factor(linear.factor);
    RotaryFrequencies result{unscaled(rotary_dim, base)};
    for (double& theta : result.theta) theta /= linear.factor;
    return result;
  }

  RotaryFrequencies operator()(const NtkScaling& ntk) const {
    require_factor(ntk.factor);
    return {unscaled(rotary_dim, stretched_base(rotary_dim, base, ntk.factor))};
  }

  RotaryFrequencies operator()(const DynamicNtkScaling& ntk) const {
    require_factor(ntk.factor);
    require_original_context(ntk.original_context);
    const auto context = static_cast<double>(ntk.original_context);
    const double factor = ntk.factor * std::max(static_cast<double>(length), context) / context - (ntk.factor - 1);
    return {unscaled(rotary_dim, stretched_base(rotary_dim, base, factor))};
  }

  RotaryFrequencies operator()(const YarnScaling& yarn) const {
    require_factor(yarn.factor);
    require_original_context(yarn.original_context);
    require_attention_factor(yarn.attention_factor);
    require_positive("a beta_slow", yarn.beta_slow);
    if (!(yarn.beta_fast > yarn.beta_slow) || std::isinf(yarn.beta_fast)) {
      throw_invalid(kWhere, "a beta_fast above beta_slow = " + std::to_string(yarn.beta_slow),
                    std::to_string(yarn.beta_fast));
    }
    if (!(base > 1)) throw_invalid(kWhere, "a base above 1 for YaRN", std::to_string(base));
    RotaryFrequencies result{unscaled(rotary_dim, base),
                             yarn.attention_factor.value_or(0.1 * std::log(yarn.factor) + 1)};
    const Ramp ramp = yarn_ramp(rotary_dim, base, yarn);
    for (std::size_t i = 0; i < result.theta.size(); ++i) {
      const double divided = ramp.at(i);
      result.theta[i] = result.theta[i] / yarn.factor * divided + result.theta[i] * (1 - divided);
    }
    return result;
  }

  RotaryFrequencies operator()(const Llama3Scaling& llama) const {
    require_factor(llama.factor);
    require_original_context(llama.original_context);
    require_positive("a low_freq_factor", llama.low_freq_factor);
    if (!(llama.high_freq_factor > llama.low_freq_factor) || std::isinf(llama.high_freq_factor)) {
      throw_invalid(kWhere, "a high_freq_factor above low_freq_factor = " + std::to_string(llama.low_freq_factor),
                    std::to_string(llama.high_freq_factor));
    }
    RotaryFrequencies result{unscaled(rotary_dim, base)};
    for (double& theta : result.theta) {
      const double turns = static_cast<double>(llama.original_context) * theta / (2 * std::numbers::pi);
      const double unchanged =
          std::clamp((turns - llama.low_freq_factor) / (llama.high_freq_factor - llama.low_freq_factor), 0.0, 1.0);
      theta = (1 - unchanged) * theta / llama.factor + unchanged * theta;
    }
    return result;
  }

  RotaryFrequencies operator()(const LongRopeScaling& rope) const {
    require_factor(rope.factor);
    require_original_context(rope.original_context, 2);
    require_attention_factor(rope.attention_factor);
    for (const std::vector<double>* factors : {&rope.short_factors, &rope.long_factors}) {
      if (factors->size() != rotary_dim / 2) {
        throw_invalid(kWhere, std::to_string(rotary_dim / 2) + " short and as many long factors",
                      std::to_string(rope.short_factors.size()) + " and " + std::to_string(rope.long_factors.size()));
      }
      for (const double factor : *factors) require_positive("short and long factors", factor);
    }
    const double stretch = std::log(rope.factor) / std::log(static_cast<double>(rope.original_context));
    RotaryFrequencies result{unscaled(rotary_dim, base), rope.attention_factor.value_or(std::sqrt(1 + stretch))};
    const std::vector<double>& factors = length > rope.original_context ? rope.long_factors : rope.short_factors;
    for (std::size_t i = 0; i < factors.size(); ++i) result.theta[i] /= factors[i];
    return result;
  }
};

}  // namespace

RotaryFrequencies rotary_frequencies(std::size_t rotary_dim, double base, const RotaryScaling& scaling,
                                     std::size_t length) {
  if (rotary_dim == 0 || rotary_dim % 2 != 0) {
    throw_invalid(kWhere, "an even rotary_dim of at least 2, for numbers rotate in pairs", std::to_string(rotary_dim));
  }
  require_positive("a base", base);
  return std::visit(Scaler{rotary_dim, base, length}, scaling);
}

}  // namespace firstlayer
