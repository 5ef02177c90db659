#include "firstlayer/lookup/optimizer/clip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/optimizer/option_fields.h"

namespace firstlayer {
namespace {

/// A gradient is cut into this many parts, whatever the number of threads.
constexpr std::size_t kParts = 64;

/// Sums that are carried side by side, so that additions need not wait for each other.
constexpr std::size_t kLanes = 16;

double sum_of_squares(std::span<const float> numbers) {
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) {
      const auto x = static_cast<double>(numbers[i + j]);
      lanes[j] += x * x;
    }
  }
  double sum = 0;
  for (; i < numbers.size(); ++i) sum += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// visit(part, its numbers) for the parts of a gradient.
template <class Visit>
void for_parts(std::span<float> numbers, unsigned threads, const Visit& visit) {
  const auto begin_of = [&](std::size_t part) {
    return numbers.size() / kParts * part + std::min(part, numbers.size() % kParts);
  };
  const auto body = [&](std::size_t from, std::size_t to) {
    for (std::size_t part = from; part < to; ++part) {
      visit(part, numbers.subspan(begin_of(part), begin_of(part + 1) - begin_of(part)));
    }
  };
  parallel_for(kParts, threads, body);
}

double square_norm(const NamedGradient& gradient, unsigned threads) {
  std::array<double, kParts> sums;
  for_parts(gradient.numbers, threads,
            [&](std::size_t part, std::span<float> numbers) { sums[part] = sum_of_squares(numbers); });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

GradientClip find_clip(std::string_view where, std::span<const NamedGradient> gradients, double max_norm,
                       unsigned threads) {
  if (!(max_norm >= 0)) throw_invalid(where, "a max_norm of at least 0", number_text(max_norm));
  double sum = 0;
  for (const NamedGradient& gradient : gradients) {
    const double square = square_norm(gradient, threads);
    if (!std::isfinite(square)) {
      throw_invalid(where, "finite gradients", std::string("inf or NaN in ").append(gradient.name));
    }
    sum += square;
  }
  const double norm = std::sqrt(sum);
  return {norm, static_cast<float>(std::min(max_norm / (norm + 1e-6), 1.0))};
}

}  // namespace

double gradient_norm(std::span<const NamedGradient> gradients, unsigned threads) {
  double sum = 0;
  for (const NamedGradient& gradient : gradients) sum += square_norm(gradient, threads);
  return std::sqrt(sum);
}

GradientClip gradient_clip(std::span<const NamedGradient> gradients, double max_norm, unsigned threads) {
  return find_clip("gradient_clip", gradients, max_norm, threads);
}

double clip_gradients(std::span<const NamedGradient> gradients, double max_norm, unsigned threads) {
  const GradientClip clip = find_clip("clip_gradients", gradients, max_norm, threads);
  if (clip.factor == 1) return clip.norm;
  for (const NamedGradient& gradient : gradients) {
    for_parts(gradient.numbers, threads, [&](std::size_t, std::span<float> numbers) {
      for (float& x : numbers) x *= clip.factor;
    });
  }
  return clip.norm;
}

}  // namespace firstlayer
