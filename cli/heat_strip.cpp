#include "cli/heat_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace firstlayer::cli {
namespace {

struct Color {
  double red;
  double green;
  double blue;
};

// The ends differ in blue against yellow, which people who do not tell red from green do see.
constexpr Color kNegative{33, 102, 172};
constexpr Color kZero{247, 247, 247};
constexpr Color kPositive{224, 110, 18};

Color cell_color(float value, float scale) {
  const double part = std::clamp(static_cast<double>(value) / static_cast<double>(scale), -1.0, 1.0);
  const Color& end = part < 0 ? kNegative : kPositive;
  const double weight = std::abs(part);
  const auto mix = [weight](double zero, double full) { return zero + (full - zero) * weight; };
  return {mix(kZero.red, end.red), mix(kZero.green, end.green), mix(kZero.blue, end.blue)};
}

/// The nearest colour of the 6 x 6 x 6 cube of 256-colour terminals, whose levels are 0, 95, 135, 175, 215, 255.
int cube_color(const Color& color) {
  const auto level = [](double value) {
    return value < 48 ? 0 : value < 115 ? 1 : std::min(5, static_cast<int>((value - 35) / 40));
  };
  return 16 + 36 * level(color.red) + 6 * level(color.green) + level(color.blue);
}

}  // namespace

std::string heat_strip(std::span<const float> values, float scale, bool true_color) {
  std::string strip;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      strip += "\x1b[0m?";
      continue;
    }
    const Color color = cell_color(value, scale);
    const bool large = std::abs(value) * 2 >= scale;
    if (true_color) {
      strip += fmt::format("\x1b[48;2;{:.0f};{:.0f};{:.0f}m", color.red, color.green, color.blue);
    } else {
      strip += fmt::format("\x1b[48;5;{}m", cube_color(color));
    }
    strip += large ? (value < 0 ? "\x1b[97m-" : "\x1b[30m+") : " ";
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
