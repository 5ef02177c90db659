#pragma once
// Learning rates by step, computed in double. Steps count from 1: the rate of the next step of a TableOptimizer is
// learning_rate(schedule, optimizer.steps() + 1).

#include <cstdint>
#include <variant>

namespace firstlayer {

/// peak * t / warmup up to step `warmup`, then peak.
struct ConstantSchedule {
  double peak;
  std::uint64_t warmup = 0;
};

/// As above up to step `warmup`, then half a cosine down to `minimum` at step `steps`, and minimum from there on:
///   minimum + (peak - minimum) * (1 + cos(pi * (t - warmup) / (steps - warmup))) / 2
/// Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017, without a restart.
struct CosineSchedule {
  double peak;
  double minimum = 0;
  std::uint64_t warmup;
  std::uint64_t steps;  ///< in all, those of the warm-up too
};

/// What is left of peak - minimum once the share x in [0, 1] of the decay is done.
enum class Decay {
  kLinear,        ///< 1 - x
  kOneMinusSqrt,  ///< 1 - sqrt(x), with which Hägele et al. reach the lowest loss
};

/// Warm-up, stable, decay: as ConstantSchedule for warmup + stable steps, then down to `minimum` within `decay` steps,
/// and minimum from there on. Hu et al., "MiniCPM", 2024; Hägele et al., "Scaling Laws and Compute-Optimal Training
/// Beyond Fixed Training Durations", 2024.
struct WsdSchedule {
  double peak;
  double minimum = 0;
  std::uint64_t warmup;
  std::uint64_t stable;
  std::uint64_t decay;
  Decay shape = Decay::kOneMinusSqrt;
};

using LearningRateSchedule = std::variant<ConstantSchedule, CosineSchedule, WsdSchedule>;

/// The rate of step `step`: learning_rate(ConstantSchedule{.peak = 1.0, .warmup = 4}, 1) == 0.25. Throws
/// std::invalid_argument for step 0, a peak or minimum that is negative or not finite, a minimum above the peak, a
/// cosine with a warm-up as long as the whole or longer, or a WSD without a decay.
double learning_rate(const LearningRateSchedule& schedule, std::uint64_t step);

}  // namespace firstlayer
