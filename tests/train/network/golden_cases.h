#pragma once
// The cases of tools/make_gpt_golden.py: their configurations, parameters and batches, made here as there.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer::testing {

struct GoldenNetwork {
  std::string name;
  GptConfig config;
  Shape<2> batch;
};

inline void PrintTo(const GoldenNetwork& each, std::ostream* out) { *out << each.name; }

inline const std::vector<GoldenNetwork>& golden_networks() {
  using enum PositionScheme;
  static const std::vector<GoldenNetwork> cases = {
      {"gpt2", {.vocabulary = 61, .context = 16, .layers = 2, .heads = 3, .dim = 12}, {2, 7}},
      {"no_layers", {.vocabulary = 29, .context = 6, .layers = 0, .heads = 1, .dim = 10}, {3, 5}},
      {"untied", {.vocabulary = 23, .context = 9, .layers = 1, .heads = 2, .dim = 8, .tied = false}, {2, 9}},
      {"rotary", {.vocabulary = 19, .context = 9, .layers = 1, .heads = 2, .dim = 8, .position = kRotary}, {2, 5}},
      {"alibi", {.vocabulary = 19, .context = 9, .layers = 1, .heads = 3, .dim = 9, .position = kAlibi}, {2, 5}},
      {"sinusoidal",
       {.vocabulary = 19, .context = 9, .layers = 1, .heads = 1, .dim = 7, .position = kSinusoidal},
       {2, 5}},
      {"ignored", {.vocabulary = 19, .context = 9, .layers = 1, .heads = 2, .dim = 8, .position = kNone}, {2, 5}},
      {"long", {.vocabulary = 13, .context = 70, .layers = 1, .heads = 2, .dim = 8}, {1, 70}},
  };
  return cases;
}

inline GptParameters golden_parameters(const GptConfig& config) {
  GptParameters parameters(config);
  Generator generator(17);
  for (const NamedGradient& tensor : parameters.named()) {
    const bool norm = tensor.name.find("ln_") != std::string_view::npos && tensor.name.ends_with("weight");
    generator.fill_normal(tensor.numbers, norm ? 1.0 : 0.0, 0.2);
  }
  return parameters;
}

struct GoldenBatch {
  Tensor<std::int64_t, 2> ids;
  Tensor<std::int64_t, 2> targets;
};

inline GoldenBatch golden_batch(const GoldenNetwork& each, std::int64_t step) {
  GoldenBatch batch = {Tensor<std::int64_t, 2>(each.batch), Tensor<std::int64_t, 2>(each.batch)};
  const auto V = static_cast<std::int64_t>(each.config.vocabulary);
  for (std::size_t place = 0; place < batch.ids.size(); ++place) {
    const auto i = static_cast<std::int64_t>(place);
    batch.ids.flat()[place] = (i * i * 31 + i * step * 7 + step * 3 + 1) % V;
    batch.targets.flat()[place] = (i * i * 17 + i + step * 5 + 2) % V;
    if (each.name == "ignored" && i % 3 == step % 3) batch.targets.flat()[place] = -1;
  }
  return batch;
}

/// A tensor of the golden file: "gpt2.logits".
inline std::vector<float> golden_numbers(const std::string& name) {
  static const SafetensorsFile file = SafetensorsFile::open(FIRSTLAYER_TEST_DATA "/train/gpt.safetensors");
  const StoredTensor* tensor = file.find(name);
  if (tensor == nullptr) throw std::runtime_error("no " + name + " in the golden file");
  std::vector<float> numbers(tensor->bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
  return numbers;
}

}  // namespace firstlayer::testing
