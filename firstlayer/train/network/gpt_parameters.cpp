#include "firstlayer/train/network/gpt_parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/random.h"
#include "firstlayer/lookup/input_embedding.h"

namespace firstlayer {
namespace {

constexpr std::size_t kAlignment = 64 / sizeof(float);
constexpr std::string_view kPrefix = "transformer.";

const GptConfig& checked(const GptConfig& config) {
  check_gpt_config(config);
  return config;
}

}  // namespace

GptLayout::GptLayout(const GptConfig& config) : config_(checked(config)) {
  const std::size_t d = config.dim;
  add("transformer.wte.weight", {config.vocabulary, d});
  if (config.position == PositionScheme::kLearned) add("transformer.wpe.weight", {config.context, d});
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    const std::string block = "transformer.h." + std::to_string(layer) + ".";
    add(block + "ln_1.weight", {d});
    add(block + "ln_1.bias", {d});
    add(block + "attn.c_attn.weight", {d, 3 * d});
    add(block + "attn.c_attn.bias", {3 * d});
    add(block + "attn.c_proj.weight", {d, d});
    add(block + "attn.c_proj.bias", {d});
    add(block + "ln_2.weight", {d});
    add(block + "ln_2.bias", {d});
    add(block + "mlp.c_fc.weight", {d, 4 * d});
    add(block + "mlp.c_fc.bias", {4 * d});
    add(block + "mlp.c_proj.weight", {4 * d, d});
    add(block + "mlp.c_proj.bias", {d});
  }
  add("transformer.ln_f.weight", {d});
  add("transformer.ln_f.bias", {d});
  if (!config.tied) add("lm_head.weight", {config.vocabulary, d});
}

void GptLayout::add(std::string name, std::vector<std::size_t> shape) {
  const std::size_t size = element_count(shape);
  const bool is_matrix = shape.size() > 1;
  tensors_.push_back({std::move(name), std::move(shape), size, flat_size_, is_matrix});
  flat_size_ += (size + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t GptLayout::parameters() const {
  std::size_t count = 0;
  for (const GptTensor& tensor : tensors_) count += tensor.size;
  return count;
}

std::optional<std::size_t> GptLayout::position_table() const {
  return config_.position == PositionScheme::kLearned ? std::optional<std::size_t>(1) : std::nullopt;
}

std::size_t GptLayout::block(std::size_t layer, BlockTensor which) const {
  return (position_table() ? 2 : 1) + layer * kBlockTensors + static_cast<std::size_t>(which);
}

std::size_t GptLayout::last_norm_weight() const { return block(config_.layers, BlockTensor::kNorm1Weight); }

std::size_t GptLayout::head() const { return config_.tied ? token_table() : last_norm_weight() + 2; }

std::optional<std::size_t> GptLayout::find(std::string_view name) const {
  const auto found = std::ranges::find_if(tensors_, [&](const GptTensor& tensor) {
    const std::string_view full = tensor.name;
    return full == name || (full.starts_with(kPrefix) && full.substr(kPrefix.size()) == name);
  });
  if (found == tensors_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - tensors_.begin());
}

GptParameters::GptParameters(const GptConfig& config) : layout_(config), numbers_({layout_.flat_size()}) {}

std::span<float> GptParameters::operator[](std::size_t tensor) {
  const GptTensor& place = layout_.tensors()[tensor];
  return numbers_.flat().subspan(place.offset, place.size);
}

std::span<const float> GptParameters::operator[](std::size_t tensor) const {
  const GptTensor& place = layout_.tensors()[tensor];
  return numbers_.flat().subspan(place.offset, place.size);
}

std::span<float> GptParameters::at(std::string_view name) {
  const std::optional<std::size_t> tensor = layout_.find(name);
  if (!tensor) throw_invalid("GptParameters", "the name of a tensor", "\"" + std::string(name) + "\"");
  return (*this)[*tensor];
}

std::span<const float> GptParameters::at(std::string_view name) const {
  const std::optional<std::size_t> tensor = layout_.find(name);
  if (!tensor) throw_invalid("GptParameters", "the name of a tensor", "\"" + std::string(name) + "\"");
  return (*this)[*tensor];
}

View<float, 2> GptParameters::matrix(std::size_t tensor) {
  const std::vector<std::size_t>& shape = layout_.tensors()[tensor].shape;
  return {(*this)[tensor], {shape.at(0), shape.at(1)}};
}

View<const float, 2> GptParameters::matrix(std::size_t tensor) const {
  const std::vector<std::size_t>& shape = layout_.tensors()[tensor].shape;
  return {(*this)[tensor], {shape.at(0), shape.at(1)}};
}

std::vector<NamedGradient> GptParameters::named() {
  std::vector<NamedGradient> all;
  for (std::size_t i = 0; i < layout_.tensors().size(); ++i) all.push_back({layout_.tensors()[i].name, (*this)[i]});
  return all;
}

GptParameters random_gpt_parameters(const GptConfig& config, std::uint64_t seed) {
  GptParameters parameters(config);
  Generator generator(seed);
  const std::span<const GptTensor> tensors = parameters.layout().tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string_view name = tensors[i].name;
    if (tensors[i].is_matrix) {
      double std = kGpt2Std.token;
      if (i == parameters.layout().position_table()) std = kGpt2Std.position;
      // 2 layers outputs are added up in the residual stream.
      if (name.ends_with("c_proj.weight")) std /= std::sqrt(2 * static_cast<double>(config.layers));
      generator.fill_normal(parameters[i], 0.0, std);
    } else if (name.ends_with(".weight")) {
      std::ranges::fill(parameters[i], 1.0F);
    }
  }
  return parameters;
}

}  // namespace firstlayer
