#include "firstlayer/train/network/gpt_config.h"

#include <array>
#include <cmath>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

struct Preset {
  std::string_view name;
  std::size_t layers;
  std::size_t heads;
  std::size_t dim;
};

constexpr std::array<Preset, 6> kPresets = {{{"nano", 3, 3, 48},
                                             {"micro", 4, 4, 128},
                                             {"gpt2", 12, 12, 768},
                                             {"gpt2-medium", 24, 16, 1024},
                                             {"gpt2-large", 36, 20, 1280},
                                             {"gpt2-xl", 48, 25, 1600}}};

constexpr std::string_view kWhere = "GptConfig";

void check_size(std::string_view name, std::size_t size) {
  if (size == 0) throw_invalid(kWhere, std::string(name) + " of at least 1", "0");
}

}  // namespace

void check_gpt_config(const GptConfig& config) {
  check_size("vocabulary", config.vocabulary);
  check_size("context", config.context);
  check_size("heads", config.heads);
  check_size("dim", config.dim);
  if (config.dim % config.heads != 0) {
    throw_invalid(kWhere, "dim = " + std::to_string(config.dim) + " to be a multiple of heads",
                  "heads = " + std::to_string(config.heads));
  }
  if (config.position == PositionScheme::kT5) {
    throw_invalid(kWhere, "learned, sinusoidal, sinusoidal-half, rotary or alibi positions, or none", "t5");
  }
  if (config.position == PositionScheme::kRotary && config.head_dim() % 2 != 0) {
    throw_invalid(kWhere, "an even dim / heads, whose numbers rotate in pairs",
                  "dim = " + std::to_string(config.dim) + " and heads = " + std::to_string(config.heads));
  }
  if (!(config.norm_eps > 0) || !std::isfinite(config.norm_eps)) {
    throw_invalid(kWhere, "norm_eps above 0", std::to_string(config.norm_eps));
  }
  if (!(config.rotary_base > 0) || !std::isfinite(config.rotary_base)) {
    throw_invalid(kWhere, "rotary_base above 0", std::to_string(config.rotary_base));
  }
}

GptConfig gpt_preset(std::string_view name) {
  std::string names;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return {.layers = preset.layers, .heads = preset.heads, .dim = preset.dim};
    names.append(names.empty() ? "" : ", ").append(preset.name);
  }
  throw_invalid("gpt_preset", "one of " + names, "\"" + std::string(name) + "\"");
}

}  // namespace firstlayer
