#include "firstlayer/train/checkpoint/gpt_tensors.h"

#include <span>
#include <utility>
#include <vector>

#include "firstlayer/formats/safetensors.h"
#include "firstlayer/lookup/position/sinusoidal.h"
#include "firstlayer/train/checkpoint/content_hash.h"

namespace firstlayer {
namespace {

constexpr const char* kPositionName = "transformer.wpe.weight";

}  // namespace

Tensor<float, 2> fixed_position_table(const GptConfig& config) {
  switch (config.position) {
    case PositionScheme::kSinusoidal:
      return sinusoidal_table(config.context, config.dim);
    case PositionScheme::kSinusoidalHalf:
      return sinusoidal_table(config.context, config.dim, SinusoidalLayout::kHalves);
    case PositionScheme::kNone:
      return Tensor<float, 2>({config.context, config.dim});
    default:
      return {};
  }
}

std::uint64_t write_gpt_tensors(const std::filesystem::path& path, const GptParameters& parameters,
                                const std::map<std::string, std::string>& metadata) {
  const Tensor<float, 2> positions = fixed_position_table(parameters.config());
  std::vector<TensorSpec> specs;
  for (const GptTensor& tensor : parameters.layout().tensors())
    specs.push_back({tensor.name, Dtype::kF32, tensor.shape});
  if (positions.size() > 0) specs.push_back({kPositionName, Dtype::kF32, {positions.dim(0), positions.dim(1)}});
  SafetensorsWriter writer(path, std::move(specs), metadata);
  ContentHash hash;
  for (const TensorSpec& spec : writer.tensors()) {
    const std::optional<std::size_t> tensor = parameters.layout().find(spec.name);
    const auto numbers = std::as_bytes(tensor ? parameters[*tensor] : positions.flat());
    hash.add(numbers);
    writer.append(numbers);
  }
  writer.commit();
  return hash.value();
}

}  // namespace firstlayer
