#include "cli/skip_gram_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cli/failure.h"
#include "cli/output_path.h"
#include "cli/vector_table.h"

namespace firstlayer::cli {
namespace {

void add_table_flags(CLI::App& app, SkipGramFlags& flags) {
  constexpr char kGroup[] = "Table";
  app.add_flag("--tokens", flags.tokens,
               "a row for each token of --vocab, as a GPT's table has them, not for each word")
      ->group(kGroup);
  add_number(app, "--min-count", flags.min_count, "leave out words that occur less often", "5")->group(kGroup);
  add_number(app, "--dim", flags.dim, "d, the width of the table", fmt::format("{}", SkipGramOptions().dim))
      ->group(kGroup);
  add_file(app, "--weights", flags.weights,
           "a table to start from: for words a file of word vectors, for --tokens a .safetensors file, a folder with "
           "model.safetensors or an .npy matrix")
      ->group(kGroup);
  add_tensor_flag(app, flags.tensor, kGroup);
}

void add_learning_flags(CLI::App& app, SkipGramFlags& flags) {
  constexpr char kGroup[] = "Learning";
  constexpr Range kUpTo1000 = {.most = 1000};
  add_number(app, "--window", flags.window, "most neighbours on each side of a word", kUpTo1000)->group(kGroup);
  add_number(app, "--negatives", flags.negatives, "noise words for each neighbour", kUpTo1000)->group(kGroup);
  add_real(app, "--sample", flags.sample, "thin out words that are more than this part of the text; 0: none")
      ->group(kGroup);
  add_number(app, "--epochs", flags.epochs, "passes over the text", {.most = 1'000'000})->group(kGroup);
  add_real(app, "--lr", flags.rate, "the learning rate at the start")->group(kGroup);
  add_real(app, "--min-lr", flags.final_rate, "the rate at the end, to which it falls in a line")->group(kGroup);
  add_number(app, "--seed", flags.seed, "of the start and of what is drawn", {.least = 0})->group(kGroup);
}

}  // namespace

void add_skip_gram_flags(CLI::App& app, SkipGramFlags& flags) {
  add_text_flags(app, flags.text);
  add_table_flags(app, flags);
  add_learning_flags(app, flags);
  add_file(app, "--output", flags.output,
           "of words, as word2vec writes them: .vec or .txt in text, .bin in binary; of --tokens: .safetensors with "
           "wte.weight, or .npy")
      ->group("Result");
}

void check_skip_gram_flags(const SkipGramFlags& flags) {
  if (!flags.output) throw Failure(kUsage, "expected --output FILE, received none", "such as --output vectors.bin");
  if (flags.tokens && flags.min_count) throw Failure(kUsage, "--min-count is for words, --tokens has a row for each");
  if (!flags.tokens && !flags.text.allow_special.empty()) {
    throw Failure(kUsage, "--allow-special is for --tokens, words have no special ones");
  }
  if (flags.tensor && !(flags.tokens && flags.weights)) {
    throw Failure(kUsage, "--tensor names a table in the --weights of --tokens");
  }
  if (flags.final_rate > flags.rate) {
    throw Failure(kUsage,
                  fmt::format("expected --min-lr of at most --lr = {}, received {}", flags.rate, flags.final_rate));
  }
  using Extensions = std::vector<std::string>;
  checked_output("--output", *flags.output,
                 flags.tokens ? Extensions{".safetensors", ".npy"} : Extensions{".vec", ".txt", ".bin"});
  for (const std::string& text : flags.text.files) {
    std::error_code missing;
    if (std::filesystem::equivalent(text, *flags.output, missing)) {
      throw Failure(kUsage, fmt::format("--output: {} is the text", *flags.output), "another name keeps the text");
    }
  }
}

SkipGramOptions skip_gram_options(const SkipGramFlags& flags, unsigned threads) {
  SkipGramOptions options;
  options.dim = flags.dim.value_or(options.dim);
  options.window = flags.window;
  options.negatives = flags.negatives;
  options.sample = flags.sample;
  options.rate = flags.rate;
  options.final_rate = flags.final_rate;
  options.epochs = flags.epochs;
  options.seed = flags.seed;
  options.threads = threads;
  return options;
}

}  // namespace firstlayer::cli
