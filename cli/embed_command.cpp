#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/embed_report.h"
#include "cli/embed_stream.h"
#include "cli/id_spool.h"
#include "cli/input_layer.h"
#include "cli/output_path.h"
#include "cli/text_input.h"
#include "cli/window_reader.h"
#include "firstlayer/encode/tokenizer.h"

namespace firstlayer::cli {
namespace {

struct EmbedFlags {
  TextFlags text;
  WindowFlags windows;
  LayerFlags layer;
  std::optional<std::string> output;
};

void run(const EmbedFlags& flags, Console& console) {
  if (flags.output) checked_output("--output", *flags.output, {".npy", ".safetensors"});
  const Tokenizer tokenizer = Tokenizer::get_encoding(flags.text.vocabulary);
  IdSpool ids(flags.output ? folder_of(*flags.output) : std::filesystem::temp_directory_path());
  const TextSize size =
      encode_text(flags.text, tokenizer, console, [&](std::span<const TokenId> part) { ids.append(part); });

  WindowReader windows(ids, flags.windows);
  const InputLayer layer(flags.layer, tokenizer.vocabulary_size(), flags.windows.context, flags.windows.seed);
  if (flags.output) write_embeddings(*flags.output, windows, layer, console);

  if (flags.output && console.quiet() && !console.json()) return;
  const EmbedSample sample = take_sample(size, ids, windows, layer, console.threads());
  if (console.json()) {
    print_json_report(sample, windows, layer, flags.output, console);
  } else {
    print_report(sample, windows, layer, tokenizer, flags.output, console);
  }
}

}  // namespace

Command add_embed(CLI::App& root) {
  CLI::App* app = root.add_subcommand("embed", "Text to the input tensor: token vectors plus position vectors.");
  const auto flags = std::make_shared<EmbedFlags>();
  add_text_flags(*app, flags->text);
  add_window_flags(*app, flags->windows);
  add_layer_flags(*app, flags->layer);
  add_file(*app, "--output", flags->output,
           "write the tensor (windows, T, d) in batch order: .safetensors with inputs and targets beside it, or .npy")
      ->group("Result");
  app->footer(
      "  firstlayer embed --text \"Every effort moves you\" --context 2 --dim 8\n"
      "  firstlayer embed --file corpus.txt --batch-size 8 --context 4 --stride 4 \\\n"
      "    --dim 256 --seed 123 --output x.safetensors\n"
      "  firstlayer embed --file corpus.txt --weights gpt2/model.safetensors");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
