#include "firstlayer/lookup/optimizer/schedule.h"

#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/optimizer/option_fields.h"

namespace firstlayer {
namespace {

void check_rate(std::string_view where, std::string_view name, double rate) {
  if (rate >= 0 && std::isfinite(rate)) return;
  throw_invalid(where, std::string("a finite ").append(name).append(" of at least 0"), number_text(rate));
}

void check_rates(std::string_view where, double peak, double minimum) {
  check_rate(where, "peak", peak);
  check_rate(where, "minimum", minimum);
  if (minimum <= peak) return;
  throw_invalid(where, "a minimum of at most the peak " + number_text(peak), number_text(minimum));
}

double share(std::uint64_t part, std::uint64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

double rate_at(const ConstantSchedule& schedule, std::uint64_t step) {
  check_rate("ConstantSchedule", "peak", schedule.peak);
  return step < schedule.warmup ? schedule.peak * share(step, schedule.warmup) : schedule.peak;
}

double rate_at(const CosineSchedule& schedule, std::uint64_t step) {
  const auto [peak, minimum, warmup, steps] = schedule;
  check_rates("CosineSchedule", peak, minimum);
  if (steps <= warmup) {
    throw_invalid("CosineSchedule", "more steps than the warm-up's " + std::to_string(warmup), std::to_string(steps));
  }
  if (step <= warmup) return rate_at(ConstantSchedule{peak, warmup}, step);
  if (step >= steps) return minimum;
  return minimum + (peak - minimum) * 0.5 * (1 + std::cos(std::numbers::pi * share(step - warmup, steps - warmup)));
}

double rate_at(const WsdSchedule& schedule, std::uint64_t step) {
  const auto [peak, minimum, warmup, stable, decay, shape] = schedule;
  check_rates("WsdSchedule", peak, minimum);
  if (decay == 0) throw_invalid("WsdSchedule", "a decay of at least one step", "0");
  // Differences, because the sum of three lengths may not fit.
  if (step <= warmup || step - warmup <= stable) return rate_at(ConstantSchedule{peak, warmup}, step);
  const std::uint64_t decayed = step - warmup - stable;
  if (decayed >= decay) return minimum;
  const double x = share(decayed, decay);
  return minimum + (peak - minimum) * (1 - (shape == Decay::kLinear ? x : std::sqrt(x)));
}

}  // namespace

double learning_rate(const LearningRateSchedule& schedule, std::uint64_t step) {
  if (step == 0) throw_invalid("learning_rate", "a step from 1 up", "0");
  return std::visit([step](const auto& each) { return rate_at(each, step); }, schedule);
}

}  // namespace firstlayer
