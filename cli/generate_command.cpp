#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/stop_signals.h"
#include "cli/text_input.h"
#include "cli/token_text.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/train/checkpoint/gpt2_vocabulary_files.h"
#include "firstlayer/train/checkpoint/gpt_checkpoint.h"
#include "firstlayer/train/checkpoint/json_fields.h"
#include "firstlayer/train/checkpoint/training_checkpoint.h"
#include "firstlayer/train/generate/generate.h"
#include "firstlayer/train/generate/whole_characters.h"

namespace firstlayer::cli {
namespace {

struct GenerateFlags {
  TextFlags text;
  std::optional<std::string> weights;
  std::optional<std::uint64_t> heads;
  bool bf16 = false;
  std::uint64_t tokens = 100;
  bool greedy = false;
  double temperature = 1;
  std::uint64_t top_k = 0;
  double top_p = 1;
  std::uint64_t seed = 0;
  std::string when_full = "stop";
};

/// The weights that --weights names: a model, or the newest checkpoint of a training run.
std::filesystem::path weights_path(const GenerateFlags& flags) {
  if (!flags.weights) {
    throw Failure(kUsage, "expected --weights",
                  "a folder with config.json and model.safetensors, such as one that "
                  "transformers' save_pretrained() writes");
  }
  const std::vector<std::filesystem::path> checkpoints = training_checkpoints(*flags.weights);
  return checkpoints.empty() ? std::filesystem::path(*flags.weights) : checkpoints.back();
}

/// Its ids must mean to the model what they mean to the tokenizer.
void check_vocabulary(const std::filesystem::path& weights, const GptConfig& model, const Tokenizer& tokenizer) {
  if (model.vocabulary < tokenizer.vocabulary_size()) {
    throw Failure(kBadData,
                  fmt::format("the model in {} has {} tokens, the vocabulary {} has {}", weights.string(),
                              grouped(model.vocabulary), tokenizer.name(), grouped(tokenizer.vocabulary_size())),
                  "its ids are those of another vocabulary");
  }
  const std::filesystem::path file = weights / "vocab.json";
  if (!std::filesystem::exists(file)) return;
  const std::string difference = gpt2_vocabulary_difference(read_text_file(file), file);
  if (!difference.empty()) {
    throw Failure(kBadData, fmt::format("{} is not the vocabulary {}: {}", file.string(), tokenizer.name(), difference),
                  "this model reads and writes ids of another vocabulary");
  }
}

std::vector<TokenId> read_prompt(const GenerateFlags& flags, const Tokenizer& tokenizer, const Console& console) {
  std::vector<TokenId> ids;
  encode_text(flags.text, tokenizer, console,
              [&](std::span<const TokenId> part) { ids.insert(ids.end(), part.begin(), part.end()); });
  return ids;
}

/// Prints the text as it grows, a character when it is whole.
class TextStream {
 public:
  explicit TextStream(Console& console) : console_(console) {}

  void append(std::string_view bytes) {
    held_ += bytes;
    const std::size_t whole = whole_characters(held_);
    console_.print(std::string_view(held_).substr(0, whole));
    console_.flush();
    held_.erase(0, whole);
  }

  void finish() { console_.print(held_ + "\n"); }

 private:
  Console& console_;
  std::string held_;
};

const char* end_name(GenerateEnd end) {
  switch (end) {
    case GenerateEnd::kTokens:
      return "tokens";
    case GenerateEnd::kStop:
      return "end of text";
    case GenerateEnd::kContext:
      return "context";
    case GenerateEnd::kTaker:
      return "interrupted";
  }
  return "";
}

void run(const GenerateFlags& flags, Console& console) {
  const std::filesystem::path path = weights_path(flags);
  const Tokenizer tokenizer = Tokenizer::get_encoding(flags.text.vocabulary);
  const std::vector<TokenId> given = read_prompt(flags, tokenizer, console);
  std::optional<GptParameters> parameters = load_gpt(path, {.heads = flags.heads});
  const GptConfig model = parameters->config();
  check_vocabulary(path, model, tokenizer);
  if (given.size() > model.context && flags.when_full == "stop") {
    throw Failure(kBadData,
                  fmt::format("the prompt has {} ids, the context of the model {}", grouped(given.size()),
                              grouped(model.context)),
                  "a shorter prompt, or --when-full slide, which reads its last ids");
  }

  // A model knows the start of a text by <|endoftext|>, which ended the one before.
  const std::vector<TokenId> prompt = given.empty() ? std::vector<TokenId>{tokenizer.end_of_text()} : given;
  const GenerateOptions options = {
      .tokens = flags.tokens,
      .sampler = {.greedy = flags.greedy, .temperature = flags.temperature, .top_k = flags.top_k, .top_p = flags.top_p},
      .seed = flags.seed,
      .stop = tokenizer.end_of_text(),
      .vocabulary = tokenizer.vocabulary_size(),
      .at_context_end = flags.when_full == "slide" ? ContextEnd::kSlide : ContextEnd::kStop};
  hear_stop_signals();
  GptDecoder decoder(*parameters, {.threads = console.threads(), .bf16 = flags.bf16});
  if (flags.bf16) parameters.reset();  // the decoder has its own
  TextStream stream(console);
  std::vector<TokenId> ids;
  if (!console.json()) stream.append(tokenizer.decode(given));
  const GenerateEnd end = generate(decoder, prompt, options, [&](TokenId id) {
    ids.push_back(id);
    if (!console.json()) stream.append(tokenizer.token_bytes(id));
    return !stop_signal_came();
  });
  if (console.json()) {
    console.print("{}\n", json_text({{"prompt", tokenizer.decode(given)},
                                     {"text", tokenizer.decode(ids)},
                                     {"prompt_ids", given},
                                     {"ids", ids},
                                     {"end", end_name(end)},
                                     {"seed", flags.seed}}));
    return;
  }
  stream.finish();
  if (end == GenerateEnd::kContext) {
    console.note(fmt::format("the context of {} ids is full; --when-full slide goes on", grouped(model.context)));
  } else if (end == GenerateEnd::kTaker) {
    console.note(fmt::format("interrupted after {} of {} tokens", grouped(ids.size()), grouped(flags.tokens)));
  }
}

void add_choice_flags(CLI::App& app, GenerateFlags& flags) {
  constexpr char kGroup[] = "Choice of each token";
  add_number(app, "--tokens", flags.tokens, "tokens to write at most")->group(kGroup);
  app.add_flag("--greedy", flags.greedy, "always the likeliest token; the others are not used then")->group(kGroup);
  constexpr RealRange kTemperatures = {.least = 0, .most = 1e6, .with_least = false};
  add_real(app, "--temperature", flags.temperature, "below 1 the likely become likelier", kTemperatures)->group(kGroup);
  add_number(app, "--top-k", flags.top_k, "draw among the K likeliest only; 0: all", {.least = 0})->group(kGroup);
  constexpr RealRange kShares = {.least = 0, .most = 1, .with_least = false};
  add_real(app, "--top-p", flags.top_p, "draw among the fewest that have this probability together", kShares)
      ->group(kGroup);
  add_number(app, "--seed", flags.seed, "of the draws: the same seed writes the same text", {.least = 0})
      ->group(kGroup);
  add_choice(app, "--when-full", flags.when_full, {"stop", "slide"},
             "what happens at the end of the model's context; slide: the last half is read anew, and the text goes on")
      ->group(kGroup);
}

}  // namespace

Command add_generate(CLI::App& root) {
  CLI::App* app = root.add_subcommand("generate", "Text that a GPT-2 writes behind a prompt, printed as it comes.");
  const auto flags = std::make_shared<GenerateFlags>();
  add_text_flags(*app, flags->text);
  constexpr char kGroup[] = "Model";
  add_file(
      *app, "--weights", flags->weights,
      "a folder of Hugging Face's GPT-2, its .safetensors, llm.c's .bin, or the folder of a training run, of which "
      "the newest checkpoint is taken")
      ->group(kGroup);
  add_number(*app, "--heads", flags->heads, "heads of attention", "config.json says it", {.least = 1})->group(kGroup);
  app->add_flag("--bf16", flags->bf16, "weights rounded to 16 bits: half the memory, and faster")->group(kGroup);
  add_choice_flags(*app, *flags);
  app->footer(
      "  firstlayer generate --weights gpt2 --text \"Every effort moves you\"\n"
      "  firstlayer generate --weights my-model --text \"I HAD\" --tokens 40 --greedy\n"
      "  firstlayer generate --weights gpt2 --file start.txt --temperature 0.8 \\\n"
      "    --top-k 50 --top-p 0.95 --seed 7 --json");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
