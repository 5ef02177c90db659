#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/id_file.h"
#include "cli/one_token.h"
#include "cli/stop_signals.h"
#include "cli/token_text.h"
#include "cli/train_flags.h"
#include "cli/train_progress.h"
#include "cli/train_report.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/train/checkpoint/content_hash.h"
#include "firstlayer/train/checkpoint/gpt_checkpoint.h"
#include "firstlayer/train/checkpoint/token_table.h"
#include "firstlayer/train/checkpoint/training_checkpoint.h"
#include "firstlayer/train/generate/generate.h"
#include "firstlayer/train/trainer/trainer.h"

namespace firstlayer::cli {
namespace {

using std::chrono::steady_clock;

std::vector<TokenId> read_ids(const TrainFlags& flags, const Tokenizer& tokenizer, const Console& console) {
  if (flags.ids) {
    if (flags.text.text || !flags.text.files.empty()) throw Failure(kUsage, "--ids and a text are two kinds of data");
    return read_id_file(*flags.ids);
  }
  std::vector<TokenId> ids;
  encode_text(flags.text, tokenizer, console,
              [&](std::span<const TokenId> part) { ids.insert(ids.end(), part.begin(), part.end()); });
  return ids;
}

std::filesystem::path checkpoints_of(const TrainFlags& flags) {
  return std::filesystem::path(*flags.output) / "checkpoints";
}

GptParameters parameters_before_step_1(const TrainFlags& flags, const GptConfig& config) {
  GptParameters parameters = flags.weights ? load_gpt(*flags.weights) : random_gpt_parameters(config, flags.seed);
  if (flags.token_table) load_token_table(*flags.token_table, parameters);
  return parameters;
}

GptParameters starting_parameters(const TrainFlags& flags) {
  GptParameters parameters = parameters_before_step_1(flags, flags.weights ? GptConfig() : network_of(flags));
  if (flags.context > parameters.config().context) {
    throw Failure(kUsage, fmt::format("--context: the model in {} has a context of {}, received {}", *flags.weights,
                                      parameters.config().context, flags.context));
  }
  return parameters;
}

/// The token table before the first step. Numbers are drawn in the order of the tensors, of which it is the first, so
/// that a network without blocks starts with the same.
GptParameters starting_tables(const TrainFlags& flags, GptConfig config) {
  config.layers = 0;
  return parameters_before_step_1(flags, config);
}

/// The tokens of --report-token.
std::vector<TokenId> tokens_to_show(const TrainFlags& flags, const Tokenizer& tokenizer) {
  if (flags.report && !flags.output) throw Failure(kUsage, "--report is written to --output, which is missing");
  if (!flags.report && !flags.report_tokens.empty()) {
    throw Failure(kUsage, "--report-token says what --report shows, which is missing");
  }
  std::vector<TokenId> tokens;
  for (const std::string& text : flags.report_tokens) tokens.push_back(need_token(tokenizer, text));
  return tokens;
}

/// The vocabulary of the ids must be the network's.
void check_vocabulary(const GptConfig& network, const Tokenizer& tokenizer) {
  if (network.vocabulary >= tokenizer.vocabulary_size()) return;
  throw Failure(kBadData, fmt::format("the model has {} tokens, the vocabulary {} has {}", network.vocabulary,
                                      tokenizer.name(), tokenizer.vocabulary_size()));
}

/// One training, from its flags to the model that it leaves.
class Run {
 public:
  Run(const TrainFlags& flags, Console& console)
      : flags_(flags),
        console_(console),
        tokenizer_(Tokenizer::get_encoding(flags.text.vocabulary)),
        shown_(tokens_to_show(flags, tokenizer_)),
        ids_(read_ids(flags, tokenizer_, console)),
        checkpoint_(newest_checkpoint()),
        parameters_(checkpoint_ ? GptParameters(checkpoint_->config()) : starting_parameters(flags)),
        trainer_(make_trainer()) {
    check_vocabulary(parameters_.config(), tokenizer_);
    if (checkpoint_) resume();
  }

  void work() {
    describe();
    hear_stop_signals();
    first_step_ = trainer_.steps();
    began_ = steady_clock::now();
    TrainProgress progress(console_, trainer_.steps(), flags_.steps, ids_of_a_step());
    for (bool last = trainer_.steps() >= flags_.steps; !last;) {
      const TrainingStep step = trainer_.step();
      last = step.step == flags_.steps || stop_signal_came();  // asked once, for a signal may come at any time
      history_.losses.push_back(step.loss);
      progress.advance(step);
      if (console_.json()) print_step(step, progress.rate());
      progress.pause();
      const auto is_due = [&](std::uint64_t every) { return every != 0 && (last || step.step % every == 0); };
      if (is_due(flags_.evaluate_every)) evaluate(step, progress);
      if (is_due(flags_.sample_every)) sample(progress);
      if (flags_.output && is_due(flags_.save_every)) save();
      progress.go_on();
    }
    progress.clear();
    finish();
  }

 private:
  std::optional<TrainingCheckpoint> newest_checkpoint() const {
    if (!flags_.output) {
      if (flags_.resume) throw Failure(kUsage, "--resume goes on from the checkpoints in --output, which is missing");
      return {};
    }
    const bool begun = !training_checkpoints(checkpoints_of(flags_)).empty();
    if (begun && !flags_.resume) {
      throw Failure(kUsage, fmt::format("{} holds a run already", checkpoints_of(flags_).string()),
                    "--resume goes on with it; another --output begins anew");
    }
    if (!begun) return {};
    return TrainingCheckpoint(checkpoints_of(flags_));
  }

  Trainer make_trainer() {
    const TrainerOptions options = trainer_options(flags_, parameters_.config(), console_.threads());
    try {
      return Trainer(parameters_, ids_, options);
    } catch (const std::invalid_argument& error) {
      throw Failure(kBadData, error.what(), "a longer text, or smaller --context, --batch-size, --held-out");
    }
  }

  void resume() {
    std::map<std::string, std::string> here = notes();
    for (const auto& [flag, value] : checkpoint_->state().notes) {
      if (here[flag] == value) continue;
      throw Failure(kUsage,
                    fmt::format("{}: the run in {} has {}, received {}", flag, *flags_.output, value, here[flag]),
                    "a run goes on with the flags and the text that it began with");
    }
    checkpoint_->restore(parameters_, trainer_.optimizer());
    history_ = checkpoint_->state().history;
    if (!history_.held_out.empty()) held_out_ = history_.held_out.back();
    console_.note(fmt::format("going on after step {}", grouped(trainer_.steps())));
  }

  std::map<std::string, std::string> notes() const {
    std::map<std::string, std::string> notes = lasting_flags(flags_);
    ContentHash hash;
    hash.add(std::as_bytes(std::span(ids_)));
    notes["text"] = fmt::format("{} ids, {:016x}", ids_.size(), hash.value());
    return notes;
  }

  std::uint64_t ids_of_a_step() const { return flags_.batch_size * flags_.context * flags_.accumulate; }

  void describe() {
    const GptConfig& config = parameters_.config();
    console_.note(fmt::format(
        "{} ids to train on, {} held out; {} layers, {} heads, d = {}, {} numbers; {} steps of {} ids",
        grouped(trainer_.batches().ids()), grouped(trainer_.batches().held_out_ids()), config.layers, config.heads,
        config.dim, grouped(parameters_.layout().parameters()), grouped(flags_.steps), grouped(ids_of_a_step())));
  }

  void print_step(const TrainingStep& step, double rate) {
    Json line = {{"step", step.step}, {"loss", step.loss}, {"lr", step.learning_rate}, {"tokens_per_second", rate}};
    if (step.norm) line["gradient_norm"] = *step.norm;
    console_.print("{}\n", json_text(line));
    console_.flush();
  }

  void evaluate(const TrainingStep& step, TrainProgress& progress) {
    const std::optional<double> held_out = trainer_.held_out_loss();
    if (held_out) {
      held_out_ = {step.step, *held_out};
      // A look that a signal has brought about is no part of a run that goes on.
      const bool expected = step.step % flags_.evaluate_every == 0 || step.step == flags_.steps;
      if (expected) history_.held_out.push_back(*held_out_);
    }
    if (console_.json()) {
      if (held_out) {
        console_.print("{}\n", json_text({{"step", step.step},
                                          {"held_out_loss", *held_out},
                                          {"held_out_perplexity", std::exp(*held_out)}}));
      }
      return;
    }
    progress.clear();
    std::string line = fmt::format("step {:>6}  loss {:.4f}", grouped(step.step), step.loss);
    if (held_out) line += fmt::format("  held out {:.4f}  perplexity {:.1f}", *held_out, std::exp(*held_out));
    console_.print("{}\n", line);
    console_.flush();
  }

  void sample(TrainProgress& progress) {
    progress.clear();
    GptDecoder decoder(parameters_, {.threads = console_.threads()});
    std::vector<TokenId> ids;
    const std::vector<TokenId> start = {tokenizer_.end_of_text()};
    generate(decoder, start,
             {.tokens = std::min<std::uint64_t>(40, flags_.context - 1),
              .seed = flags_.seed,
              .vocabulary = tokenizer_.vocabulary_size()},
             [&](TokenId id) {
               ids.push_back(id);
               return true;
             });
    const std::string text = tokenizer_.decode(ids);
    if (console_.json()) {
      console_.print("{}\n", json_text({{"step", trainer_.steps()}, {"sample", text}}));
    } else {
      console_.print("  {}\n", printable(text));
    }
    console_.flush();
  }

  void save() {
    save_training(checkpoints_of(flags_), trainer_.optimizer(),
                  {.seed = flags_.seed, .history = history_, .notes = notes()}, flags_.keep);
  }

  void finish() {
    if (flags_.output) {
      save_gpt(*flags_.output, parameters_);
      console_.note(fmt::format("the model is in {}", *flags_.output));
    }
    if (flags_.report) report();
    if (stop_signal_came()) {
      console_.note(
          fmt::format("stopped after step {}{}", grouped(trainer_.steps()), flags_.output ? "; --resume goes on" : ""));
    }
  }

  void report() {
    const double seconds = std::chrono::duration<double>(steady_clock::now() - began_).count();
    const GptParameters start = starting_tables(flags_, parameters_.config());
    const EndedRun run{.flags = flags_,
                       .tokenizer = tokenizer_,
                       .ids = ids_,
                       .batches = trainer_.batches(),
                       .start = start.matrix(start.layout().token_table()),
                       .parameters = parameters_,
                       .history = history_,
                       .held_out = held_out_,
                       .first_step = first_step_,
                       .steps = trainer_.steps(),
                       .seconds = seconds,
                       .shown = shown_};
    write_train_report(*flags_.output, train_report(run, console_.threads()));
    console_.note(
        fmt::format("what was learned is in {}", (std::filesystem::path(*flags_.output) / "report.html").string()));
  }

  const TrainFlags& flags_;
  Console& console_;
  Tokenizer tokenizer_;
  std::vector<TokenId> shown_;  ///< in the report
  std::vector<TokenId> ids_;
  std::optional<TrainingCheckpoint> checkpoint_;
  GptParameters parameters_;
  Trainer trainer_;
  TrainingHistory history_;
  std::optional<HeldOutLoss> held_out_;  ///< the latest
  std::uint64_t first_step_ = 0;         ///< where this part of the run began
  steady_clock::time_point began_;
};

}  // namespace

Command add_train(CLI::App& root) {
  CLI::App* app = root.add_subcommand("train", "Tables that learn under a GPT-2, by the loss of the next token.");
  const auto flags = std::make_shared<TrainFlags>();
  add_train_flags(*app, *flags);
  app->footer(
      "  firstlayer train --file the-verdict.txt --steps 200 --output my-model\n"
      "  firstlayer train --file the-verdict.txt --steps 200 --output my-model --resume\n"
      "  firstlayer train --ids corpus.bin --preset micro --steps 5000 \\\n"
      "    --output my-model --json > metrics.jsonl");
  return {app, [flags](Console& console) { Run(*flags, console).work(); }};
}

}  // namespace firstlayer::cli
