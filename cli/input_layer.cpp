#include "cli/input_layer.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/failure.h"
#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/position/sinusoidal.h"

namespace firstlayer::cli {
namespace {

void require_addressable(std::size_t rows, std::size_t dim) {
  std::size_t values = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(rows, dim, &values) || __builtin_mul_overflow(values, sizeof(float), &bytes)) {
    throw Failure(kUsage, fmt::format("--dim: a table of {} rows of {} values is larger than any memory", rows, dim));
  }
}

InputEmbedding load(const LayerFlags& flags, PositionScheme scheme, std::size_t context) {
  const bool learned = scheme == PositionScheme::kLearned;
  InputEmbedding model =
      learned ? InputEmbedding::load_gpt2(*flags.weights) : InputEmbedding::load_gpt2_tokens(*flags.weights);
  const EmbeddingSizes& sizes = model.sizes();
  if (flags.dim && *flags.dim != sizes.dim) {
    throw Failure(kUsage, fmt::format("--dim {} is not the width of {}, {}", *flags.dim, *flags.weights, sizes.dim),
                  "leave --dim out: it comes from the file");
  }
  if (learned && context > sizes.context) {
    throw Failure(kUsage, fmt::format("--context {} is longer than the {} positions of {}", context, sizes.context,
                                      *flags.weights));
  }
  return model;
}

/// The tables of all schemes: tokens, and positions if they are added.
InputEmbedding make_embedding(const LayerFlags& flags, PositionScheme scheme, std::size_t vocabulary_size,
                              std::size_t context, std::uint64_t seed) {
  const bool learned = scheme == PositionScheme::kLearned;
  Tensor<float, 2> tokens;
  if (flags.weights) {
    InputEmbedding model = load(flags, scheme, context);
    if (learned) return model;
    tokens = std::move(model).token_table();
  } else {
    const std::size_t dim = flags.dim.value_or(kDefaultDim);
    require_addressable(vocabulary_size, dim);
    Generator generator(seed);
    tokens = random_table(vocabulary_size, dim, generator);
    if (learned) {
      require_addressable(context, dim);
      return {std::move(tokens), random_table(context, dim, generator)};
    }
  }
  if (position_role(scheme) != PositionRole::kAdded) return InputEmbedding(std::move(tokens));
  const std::size_t dim = tokens.dim(1);
  require_addressable(context, dim);
  const SinusoidalLayout layout =
      scheme == PositionScheme::kSinusoidal ? SinusoidalLayout::kInterleaved : SinusoidalLayout::kHalves;
  return {std::move(tokens), sinusoidal_table(context, dim, layout)};
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const PositionScheme scheme : position_schemes()) names.emplace_back(scheme_name(scheme));
  return names;
}

}  // namespace

void add_layer_flags(CLI::App& app, LayerFlags& flags) {
  constexpr char kGroup[] = "Tables";
  add_number(app, "--dim", flags.dim, "d, the width of the tables", std::to_string(kDefaultDim))->group(kGroup);
  add_choice(app, "--position", flags.position, scheme_names(),
             "how a model knows the place in the window: the first three are added to the vectors; rotary, alibi and "
             "t5 wait for attention")
      ->group(kGroup);
  add_file(app, "--weights", flags.weights,
           "take the tables from a GPT-2 .safetensors file; without it --seed draws them as torch.nn.Embedding does")
      ->group(kGroup);
}

InputLayer::InputLayer(const LayerFlags& flags, std::size_t vocabulary_size, std::size_t context, std::uint64_t seed)
    : scheme_(find_scheme(flags.position)),
      embedding_(make_embedding(flags, scheme_, vocabulary_size, context, seed)) {}

}  // namespace firstlayer::cli
