#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/explain_report.h"
#include "cli/failure.h"
#include "cli/input_layer.h"
#include "cli/text_input.h"
#include "firstlayer/base/random.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/view/explain.h"

namespace firstlayer::cli {
namespace {

constexpr std::uint64_t kDefaultContext = 64;
constexpr std::uint64_t kMostContext = 1024;  // what is measured grows with its square
constexpr std::uint64_t kMostDim = 1 << 20;

struct ExplainFlags {
  TextFlags text;
  std::optional<std::uint64_t> context;
  std::optional<std::uint64_t> dim;
  std::uint64_t seed = 123;
  std::optional<std::string> weights;
};

InputEmbedding load(const ExplainFlags& flags) {
  InputEmbedding model = InputEmbedding::load_gpt2(*flags.weights);
  const EmbeddingSizes& sizes = model.sizes();
  if (flags.dim && *flags.dim != sizes.dim) {
    throw Failure(kUsage, fmt::format("--dim {} is not the width of {}, {}", *flags.dim, *flags.weights, sizes.dim),
                  "leave --dim out: it comes from the file");
  }
  if (flags.context && *flags.context > sizes.context) {
    throw Failure(kUsage, fmt::format("--context {} is longer than the {} positions of {}", *flags.context,
                                      sizes.context, *flags.weights));
  }
  return model;
}

InputEmbedding draw(const ExplainFlags& flags, std::size_t vocabulary_size) {
  Generator generator(flags.seed);
  return InputEmbedding({.vocabulary = vocabulary_size,
                         .context = flags.context.value_or(kDefaultContext),
                         .dim = flags.dim.value_or(kDefaultDim)},
                        generator);
}

void run(const ExplainFlags& flags, Console& console) {
  const Tokenizer tokenizer = Tokenizer::get_encoding(flags.text.vocabulary);
  const std::size_t most = flags.context.value_or(kDefaultContext);
  Explanation explanation;
  explanation.text = encode_text(flags.text, tokenizer, console, [&](std::span<const TokenId> part) {
    const std::span<const TokenId> used = part.first(std::min(part.size(), most - explanation.ids.size()));
    explanation.ids.insert(explanation.ids.end(), used.begin(), used.end());
  });
  if (explanation.ids.empty()) {
    throw Failure(kBadData, "expected a text of at least one id, received an empty one",
                  "--text \"dog bites man, man bites dog\" shows every claim");
  }

  const InputEmbedding embedding = flags.weights ? load(flags) : draw(flags, tokenizer.vocabulary_size());
  explanation.ids.resize(std::min(explanation.ids.size(), embedding.sizes().context));
  explanation.token_table = embedding.token_table().shape();
  explanation.position_table = embedding.position_table().shape();
  explanation.origin = flags.weights ? *flags.weights : fmt::format("drawn from seed {}", flags.seed);
  explanation.evidence = explain(embedding, explanation.ids, flags.seed, library_operations(console.threads()));
  if (console.json()) {
    print_json_explanation(explanation, tokenizer, console);
  } else {
    print_explanation(explanation, tokenizer, console);
  }
  if (std::any_of(explanation.evidence.begin(), explanation.evidence.end(),
                  [](const Evidence& evidence) { return evidence.verdict == Verdict::kDoesNotHold; })) {
    console.flush();
    throw Finding();
  }
}

}  // namespace

Command add_explain(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "explain",
      "What is said about embeddings and positions, put to the test on a text. Ends with 1 if a claim does "
      "not hold.");
  const auto flags = std::make_shared<ExplainFlags>();
  add_text_flags(*app, flags->text);
  constexpr char kGroup[] = "Tables";
  add_number(
      *app, "--context", flags->context, "rows of the position table, and the most ids of the text that are used",
      fmt::format("{}; with --weights the file says the rows", kDefaultContext), {.least = 1, .most = kMostContext})
      ->group(kGroup);
  add_number(*app, "--dim", flags->dim, "d, the width of the tables", std::to_string(kDefaultDim),
             {.least = 1, .most = kMostDim})
      ->group(kGroup);
  add_number(*app, "--seed", flags->seed, "of the tables, and of the gradients and projections that claims need",
             {.least = 0})
      ->group(kGroup);
  add_file(*app, "--weights", flags->weights,
           "take both tables from a GPT-2 .safetensors file; without it --seed draws them as torch.nn.Embedding does")
      ->group(kGroup);
  app->footer(
      "  firstlayer explain --text \"dog bites man\"\n"
      "  firstlayer explain --text \"dog bites man, man bites dog\" --dim 16 --json\n"
      "  firstlayer explain --file poem.txt --weights gpt2/model.safetensors");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
