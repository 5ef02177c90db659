#include "cli/heat_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace firstlayer::cli {
namespace {

struct Color {
  double red;
  double green;
  double blue;
};

// The ends differ in blue against yellow, which people who do not tell red from green do see; black is legible on all.
constexpr Color kNegative{67, 147, 195};
constexpr Color kZero{247, 247, 247};
constexpr Color kPositive{224, 110, 18};

Color cell_color(float value, float scale) {
  const double part = std::clamp(static_cast<double>(value) / static_cast<double>(scale), -1.0, 1.0);
  const Color& end = part < 0 ? kNegative : kPositive;
  const double weight = std::abs(part);
  const auto mix = [weight](double zero, double full) { return zero + (full - zero) * weight; };
  return {mix(kZero.red, end.red), mix(kZero.green, end.green), mix(kZero.blue, end.blue)};
}

// The same from zero outwards among 256 colours, chosen by hand: the nearest ones have hues of their own.
constexpr std::array<int, 5> kNegativeOf256{231, 153, 111, 75, 32};
constexpr std::array<int, 5> kPositiveOf256{231, 223, 216, 173, 166};

int cell_color_of_256(float value, float scale) {
  const double weight = std::min(1.0, std::abs(static_cast<double>(value) / static_cast<double>(scale)));
  const auto step = static_cast<std::size_t>(std::lround(weight * static_cast<double>(kNegativeOf256.size() - 1)));
  return value < 0 ? kNegativeOf256[step] : kPositiveOf256[step];
}

}  // namespace

std::string heat_strip(std::span<const float> values, float scale, bool true_color) {
  std::string strip;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      strip += "\x1b[0m?";
      continue;
    }
    const bool large = std::abs(value) * 2 >= scale;
    if (true_color) {
      const Color color = cell_color(value, scale);
      strip += fmt::format("\x1b[48;2;{:.0f};{:.0f};{:.0f}m", color.red, color.green, color.blue);
    } else {
      strip += fmt::format("\x1b[48;5;{}m", cell_color_of_256(value, scale));
    }
    strip += !large ? " " : value < 0 ? "\x1b[30m-" : "\x1b[30m+";
  }
  return strip + "\x1b[0m";
}

float heat_scale(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  const double scale = 2 * std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, values.size())));
  return std::isfinite(scale) && scale > 0 ? static_cast<float>(scale) : 1.0F;
}

}  // namespace firstlayer::cli
