// Saves small networks into FOLDER/NAME, each with logits.safetensors: ids (B, T) and what GptNetwork makes of them.
// usage: transformers_models FOLDER

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "firstlayer/base/random.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/train/checkpoint/gpt_checkpoint.h"
#include "firstlayer/train/network/gpt_network.h"

namespace firstlayer {
namespace {

void save(const std::filesystem::path& folder, const GptConfig& config) {
  GptParameters parameters(config);
  Generator generator(7);
  for (const NamedGradient& tensor : parameters.named()) {
    const bool norm = tensor.name.find("ln_") != std::string_view::npos && tensor.name.ends_with("weight");
    generator.fill_normal(tensor.numbers, norm ? 1.0 : 0.0, 0.25);
  }
  save_gpt(folder, parameters);

  Tensor<std::int64_t, 2> ids({2, config.context});
  for (std::int64_t& id : ids.flat()) id = static_cast<std::int64_t>(generator.next_u32() % config.vocabulary);
  Tensor<float, 3> logits({2, config.context, config.vocabulary});
  GptNetwork(parameters, ids.shape()).logits(View<const std::int64_t, 2>(ids), logits);
  SafetensorsWriter writer(
      folder / "logits.safetensors",
      {{"ids", Dtype::kI64, {2, config.context}}, {"logits", Dtype::kF32, {2, config.context, config.vocabulary}}});
  writer.append(std::as_bytes(ids.flat()));
  writer.append(std::as_bytes(logits.flat()));
  writer.commit();
}

void save_all(const std::filesystem::path& folder) {
  const GptConfig small = {.vocabulary = 61, .context = 10, .layers = 2, .heads = 4, .dim = 16};
  save(folder / "tied", small);
  GptConfig config = small;
  config.tied = false;
  config.norm_eps = 1e-3;
  save(folder / "untied", config);
  config = small;
  for (const PositionScheme position : {PositionScheme::kSinusoidal, PositionScheme::kNone, PositionScheme::kRotary}) {
    config.position = position;
    save(folder / scheme_name(position), config);
  }
  config = small;
  config.layers = 0;
  save(folder / "no-layers", config);
  config.vocabulary = 50257;
  save(folder / "vocabulary", config);
}

}  // namespace
}  // namespace firstlayer

int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    firstlayer::save_all(arguments[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
