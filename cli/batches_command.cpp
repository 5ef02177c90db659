#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/id_spool.h"
#include "cli/output_path.h"
#include "cli/text_input.h"
#include "cli/token_text.h"
#include "cli/window_reader.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/formats/npy.h"

namespace firstlayer::cli {
namespace {

struct BatchesFlags {
  TextFlags text;
  WindowFlags windows;
  std::uint64_t epochs = 1;
  std::optional<std::string> inputs;
  std::optional<std::string> targets;

  bool to_files() const { return inputs || targets; }
};

/// What is done with the batches: printed, or appended to files.
class BatchSink {
 public:
  BatchSink(const BatchesFlags& flags, std::size_t rows, Console& console) : console_(console) {
    if (flags.inputs) inputs_.emplace(*flags.inputs, Dtype::kI64, shape(rows, flags));
    if (flags.targets) targets_.emplace(*flags.targets, Dtype::kI64, shape(rows, flags));
  }

  void take(std::uint64_t epoch, std::size_t batch, Matrix<const TokenId> inputs, Matrix<const TokenId> targets) {
    if (inputs_ || targets_) {
      if (inputs_) append(*inputs_, inputs);
      if (targets_) append(*targets_, targets);
    } else if (console_.json()) {
      console_.print(
          "{}\n",
          json_text({{"epoch", epoch}, {"batch", batch}, {"inputs", rows(inputs)}, {"targets", rows(targets)}}));
    } else {
      console_.print("epoch {} batch {}: inputs -> targets, each {}\n", epoch, batch, shape_text(inputs.shape()));
      for (std::size_t b = 0; b < inputs.dim(0); ++b) {
        console_.print("{} -> {}\n", ids_text(inputs[b]), ids_text(targets[b]));
      }
    }
  }

  void commit() {
    if (inputs_) inputs_->commit();
    if (targets_) targets_->commit();
  }

 private:
  static std::vector<std::size_t> shape(std::size_t rows, const BatchesFlags& flags) {
    return {rows, flags.windows.context};
  }

  void append(NpyWriter& file, Matrix<const TokenId> ids) {
    wide_.assign(ids.flat().begin(), ids.flat().end());
    file.append(std::as_bytes(std::span(wide_)));
  }

  static Json rows(Matrix<const TokenId> ids) {
    Json rows = Json::array();
    for (std::size_t b = 0; b < ids.dim(0); ++b) rows.emplace_back(std::vector<TokenId>(ids[b].begin(), ids[b].end()));
    return rows;
  }

  Console& console_;
  std::optional<NpyWriter> inputs_;
  std::optional<NpyWriter> targets_;
  std::vector<std::int64_t> wide_;
};

std::size_t rows_of(const WindowReader& reader, std::uint64_t epochs) {
  std::size_t rows = 0;
  if (__builtin_mul_overflow(reader.windows(), epochs, &rows)) {
    throw Failure(kUsage,
                  fmt::format("--epochs: {} epochs of {} windows are too many to count", epochs, reader.windows()));
  }
  return rows;
}

void run(const BatchesFlags& flags, Console& console) {
  if (flags.inputs) checked_output("--inputs", *flags.inputs, {".npy"});
  if (flags.targets) checked_output("--targets", *flags.targets, {".npy"});
  if (flags.inputs && flags.inputs == flags.targets) {
    throw Failure(kUsage, fmt::format("expected two files, received \"{}\" for --inputs and --targets", *flags.inputs));
  }
  const Tokenizer tokenizer = Tokenizer::get_encoding(flags.text.vocabulary);
  IdSpool ids(flags.to_files() ? folder_of(flags.inputs.value_or(flags.targets.value_or("")))
                               : std::filesystem::temp_directory_path());
  encode_text(flags.text, tokenizer, console, [&](std::span<const TokenId> part) { ids.append(part); });

  WindowReader reader(ids, flags.windows);
  const std::size_t rows = rows_of(reader, flags.epochs);
  BatchSink sink(flags, rows, console);
  std::vector<TokenId> inputs;
  std::vector<TokenId> targets;
  for (std::uint64_t epoch = 0; epoch < flags.epochs; ++epoch) {
    if (epoch > 0) reader.next_epoch();
    for (std::size_t batch = 0; batch < reader.batches(); ++batch) {
      const std::size_t first = batch * reader.batch_size();
      const Shape<2> shape{std::min(reader.batch_size(), reader.windows() - first), reader.plan().context};
      inputs.resize(element_count(shape));
      targets.resize(inputs.size());
      reader.read(first, {inputs, shape}, {targets, shape});
      sink.take(epoch, batch, Matrix<TokenId>(inputs, shape), Matrix<TokenId>(targets, shape));
    }
  }
  sink.commit();

  if (!flags.to_files()) return;
  const Shape<2> written{rows, reader.plan().context};
  if (console.json()) {
    Json report{{"shape", written}, {"batches", reader.batches() * flags.epochs}};
    if (flags.inputs) report["inputs"] = *flags.inputs;
    if (flags.targets) report["targets"] = *flags.targets;
    console.print("{}\n", json_text(report));
  } else {
    for (const auto& [name, path] : {std::pair("inputs", flags.inputs), std::pair("targets", flags.targets)}) {
      if (path) console.note(fmt::format("{}: {} {}, int64", *path, name, shape_text(written)));
    }
  }
}

}  // namespace

Command add_batches(CLI::App& root) {
  CLI::App* app = root.add_subcommand("batches", "Text to batches of windows: inputs, and the targets one id later.");
  const auto flags = std::make_shared<BatchesFlags>();
  add_text_flags(*app, flags->text);
  add_window_flags(*app, flags->windows);
  constexpr char kGroup[] = "Result, printed if neither is given";
  add_number(*app, "--epochs", flags->epochs, "times to go through the text")->group(kWindowGroup);
  add_file(*app, "--inputs", flags->inputs, "write the inputs (windows, T) to an .npy file, int64, in batch order")
      ->group(kGroup);
  add_file(*app, "--targets", flags->targets, "write the targets in the same way")->group(kGroup);
  app->footer(
      "  firstlayer batches --file corpus.txt --context 4 --batch-size 8\n"
      "  firstlayer batches --file corpus.txt --shuffle --seed 123 --drop-last --json\n"
      "  firstlayer batches --file corpus.txt --context 256 --stride 128 \\\n"
      "    --inputs x.npy --targets y.npy");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
