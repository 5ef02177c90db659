// What the tables cost: their width downstream, their share of a model.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/view/claims.h"
#include "firstlayer/view/compare.h"

namespace firstlayer {
namespace {

/// Token and position vectors side by side: (T, 2d).
Tensor<float, 2> concatenated(View<const float, 2> tokens, View<const float, 2> positions) {
  const auto [T, d] = tokens.shape();
  Tensor<float, 2> out({T, 2 * d});
  for (std::size_t t = 0; t < T; ++t) {
    std::copy(tokens[t].begin(), tokens[t].end(), out.view()[t].begin());
    std::copy(positions[t].begin(), positions[t].end(), out.view()[t].begin() + static_cast<std::ptrdiff_t>(d));
  }
  return out;
}

/// weight (d, h) above itself: (2d, h).
Tensor<float, 2> doubled(View<const float, 2> weight) {
  Tensor<float, 2> out({2 * weight.dim(0), weight.dim(1)});
  const std::span<float> values = out.flat();
  std::copy(weight.flat().begin(), weight.flat().end(), values.begin());
  std::copy(weight.flat().begin(), weight.flat().end(), values.begin() + static_cast<std::ptrdiff_t>(weight.size()));
  return out;
}

double largest(std::span<const float> values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

/// Weights of the first layer's queries, keys and values, each as wide as d, for inputs of `width`.
std::uint64_t projection_parameters(std::uint64_t width, std::uint64_t dim) { return width * 3 * dim; }

/// A model as it was published.
struct Model {
  const char* name;
  double parameters;  ///< as its name or its table rounds it
  std::size_t layers;
  std::size_t context;
  std::size_t dim;
};

constexpr std::size_t kGpt2Vocabulary = 50257;

/// GPT-2: the models of openai/gpt-2, by their parameters. GPT-3: Language Models are Few-Shot Learners (2020), table
/// 2.1, with the vocabulary of GPT-2; 13B's width is its 40 heads of 128, where the table prints 5,140.
constexpr std::array<Model, 12> kModels{{
    {"GPT-2_124M", 124e6, 12, 1024, 768},
    {"GPT-2_355M", 355e6, 24, 1024, 1024},
    {"GPT-2_774M", 774e6, 36, 1024, 1280},
    {"GPT-2_1.5B", 1.558e9, 48, 1024, 1600},
    {"GPT-3_125M", 125e6, 12, 2048, 768},
    {"GPT-3_350M", 350e6, 24, 2048, 1024},
    {"GPT-3_760M", 760e6, 24, 2048, 1536},
    {"GPT-3_1.3B", 1.3e9, 24, 2048, 2048},
    {"GPT-3_2.7B", 2.7e9, 32, 2048, 2560},
    {"GPT-3_6.7B", 6.7e9, 32, 2048, 4096},
    {"GPT-3_13B", 13e9, 40, 2048, 5120},
    {"GPT-3_175B", 175e9, 96, 2048, 12288},
}};

/// The weights and biases of the blocks and the last normalisation; the head is the token table again. A block has
/// attention (d, 3d) and (d, d), the layers (d, 4d) and (4d, d), and two normalisations.
std::uint64_t parameters_after_the_tables(const Model& model) {
  const std::uint64_t d = model.dim;
  return model.layers * (12 * d * d + 13 * d) + 2 * d;
}

}  // namespace

Evidence adding_claim(const Experiment& experiment) {
  const std::size_t d = experiment.dim();
  const std::size_t T = experiment.ids.size();
  const Tensor<float, 3> tokens = experiment.without_positions(experiment.ids);
  const Tensor<float, 3> x = experiment.with_positions(experiment.ids);
  const View<const float, 2> positions(experiment.embedding.position_table().flat().first(T * d), {T, d});
  const Tensor<float, 2> side_by_side = concatenated(tokens.view()[0], positions);
  const std::size_t width = x.dim(2);

  Evidence evidence{
      .id = "adding",
      .claim = "Adding positions keeps the width d; concatenating them doubles it, and the first projection.",
      .measured = {{"width_when_added", width, ""},
                   {"width_when_concatenated", side_by_side.dim(1), ""},
                   {"first_projection_when_added", projection_parameters(width, d), "parameters"},
                   {"first_projection_when_concatenated", projection_parameters(side_by_side.dim(1), d), "parameters"}},
      .vectors = {},
      .verdict = Verdict::kDoesNotHold,
      .needs = {}};
  if (width != d) return evidence;

  constexpr std::size_t kColumns = 64;  // of the projection: more would show the same
  Generator generator(experiment.seed);
  const Tensor<float, 2> weight =
      random_table(d, std::min(d, kColumns), generator, 1 / std::sqrt(static_cast<double>(d)));
  const Tensor<double, 2> projected = project(x.view()[0], weight);
  const Tensor<double, 2> projected_pairs = project(side_by_side, doubled(weight));
  const double difference = largest_difference(projected.flat(), projected_pairs.flat());
  // x = E + P is rounded to float32 once, by at most 2^-24 of its size, which is at most twice that of its parts.
  const double rounding =
      std::ldexp(static_cast<double>(d), -23) * largest(side_by_side.flat()) * largest(weight.flat());
  evidence.measured.push_back({"difference_if_its_halves_are_equal", difference, ""});
  evidence.measured.push_back({"rounding_explains_up_to", rounding, ""});
  evidence.verdict = holds_if(difference <= rounding);
  return evidence;
}

Evidence budget_claim(const Experiment& experiment) {
  constexpr double kPublishedRounding = 0.02;  // GPT-3's 350M has 356 million
  const InputEmbedding& embedding = experiment.embedding;
  const std::uint64_t in_tables = embedding.token_table().size() + embedding.position_table().size();
  const std::uint64_t counted = experiment.layer.parameters(embedding.sizes());
  Evidence evidence{.id = "budget",
                    .claim = "The tables hold V * d + context * d numbers: much of a small GPT, little of a large one.",
                    .measured = {{"numbers_in_these_tables", in_tables, ""}, {"numbers_by_the_formula", counted, ""}},
                    .vectors = {},
                    .verdict = Verdict::kHolds,
                    .needs = {}};
  bool as_published = true;
  for (const Model& model : kModels) {
    const std::uint64_t tables = experiment.layer.parameters({kGpt2Vocabulary, model.context, model.dim});
    const std::uint64_t whole = tables + parameters_after_the_tables(model);
    as_published &= std::abs(static_cast<double>(whole) / model.parameters - 1) <= kPublishedRounding;
    evidence.measured.push_back({model.name, Share{tables, whole}, "parameters"});
  }
  evidence.verdict = holds_if(in_tables == counted && as_published);
  return evidence;
}

}  // namespace firstlayer
