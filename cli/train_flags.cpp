#include "cli/train_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "cli/failure.h"
#include "firstlayer/lookup/position/scheme.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer::cli {
namespace {

/// All schemes but T5's, which this network does not have.
std::vector<std::string> positions() {
  std::vector<std::string> names;
  for (const PositionScheme scheme : position_schemes()) {
    if (scheme != PositionScheme::kT5) names.emplace_back(scheme_name(scheme));
  }
  return names;
}

std::uint64_t warmup_of(const TrainFlags& flags) {
  return flags.warmup.value_or(std::min<std::uint64_t>(flags.steps / 10, 100));
}

void add_model_flags(CLI::App& app, TrainFlags& flags) {
  constexpr char kGroup[] = "Network";
  add_choice(app, "--preset", flags.preset, {"nano", "micro", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"},
             "its sizes: nano is 3 layers, 3 heads, d = 48; micro 4, 4, 128; gpt2 12, 12, 768")
      ->group(kGroup);
  add_number(app, "--layers", flags.layers, "blocks; 0 is a log-bilinear model", "the preset's", {.least = 0})
      ->group(kGroup);
  add_number(app, "--heads", flags.heads, "heads of attention", "the preset's")->group(kGroup);
  add_number(app, "--dim", flags.dim, "d, the width of the tables", "the preset's")->group(kGroup);
  app.add_flag("--untied", flags.untied, "an output head of its own, not the token table")->group(kGroup);
  add_choice(app, "--position", flags.position, positions(), "how the network knows where a token stands")
      ->group(kGroup);
  add_file(app, "--weights", flags.weights, "a model to start from, which has its own sizes")->group(kGroup);
  add_file(
      app, "--token-table", flags.token_table,
      "a table (V, d) that the token table starts from: .safetensors, .npy, or word vectors in the order of the ids")
      ->group(kGroup);
  app.add_flag("--tables-only", flags.tables_only, "only the token and the position table learn")->group(kGroup);
}

void add_data_flags(CLI::App& app, TrainFlags& flags) {
  constexpr char kGroup[] = "Steps";
  add_file(app, "--ids", flags.ids, "ids instead of a text: an .npy, or a .bin of 16-bit ids as encode --output writes")
      ->group(kGroup);
  add_number(app, "--steps", flags.steps, "steps in all")->group(kGroup);
  add_number(app, "--batch-size", flags.batch_size, "windows of a batch")->group(kGroup);
  add_number(app, "--context", flags.context, "ids of a window")->group(kGroup);
  add_number(app, "--accumulate", flags.accumulate, "batches whose mean gradient makes a step")->group(kGroup);
  add_real(app, "--held-out", flags.held_out, "the share of the text, at its end, that no step sees",
           {.most = 1, .with_most = false})
      ->group(kGroup);
  add_number(app, "--seed", flags.seed, "of the start and of the order", {.least = 0})->group(kGroup);
}

void add_optimizer_flags(CLI::App& app, TrainFlags& flags) {
  constexpr char kGroup[] = "AdamW";
  add_real(app, "--lr", flags.rate, "the highest learning rate")->group(kGroup);
  add_choice(app, "--schedule", flags.schedule, {"constant", "cosine", "wsd"},
             "the rate after the warm-up: cosine falls over the whole run, wsd over its last tenth")
      ->group(kGroup);
  add_number(app, "--warmup", flags.warmup, "steps in which the rate rises", "a tenth of --steps, at most 100",
             {.least = 0})
      ->group(kGroup);
  add_real(app, "--min-lr", flags.least_rate, "the rate at the end")->group(kGroup);
  add_real(app, "--weight-decay", flags.weight_decay, "of matrices and tables; biases and norms have none")
      ->group(kGroup);
  add_real(app, "--beta2", flags.beta2, "of the second moment", {.most = 1, .with_most = false})->group(kGroup);
  add_real(app, "--clip", flags.clip, "the longest gradient; 0: as long as it is")->group(kGroup);
}

void add_output_flags(CLI::App& app, TrainFlags& flags) {
  constexpr char kGroup[] = "Output";
  app.add_option("--output", flags.output, "a folder for the model, and for checkpoints below it")
      ->type_name("DIR")
      ->group(kGroup);
  add_number(app, "--save-every", flags.save_every, "steps from one checkpoint to the next")->group(kGroup);
  add_number(app, "--keep", flags.keep, "checkpoints that are kept")->group(kGroup);
  app.add_flag("--resume", flags.resume, "go on from the newest checkpoint in --output, to the bit")->group(kGroup);
  add_number(app, "--evaluate-every", flags.evaluate_every, "steps from one look at the held-out text to the next")
      ->group(kGroup);
  add_number(app, "--sample-every", flags.sample_every, "steps from one sample of text to the next; 0: none",
             {.least = 0})
      ->group(kGroup);
  app.add_flag("--report", flags.report, "at the end, what was learned: report.html and report.json in --output")
      ->group(kGroup);
  app.add_option("--report-token", flags.report_tokens,
                 "a token whose neighbours the report shows, its space too (\" king\"); repeatable; otherwise frequent "
                 "words of the text")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->group(kGroup);
}

}  // namespace

void add_train_flags(CLI::App& app, TrainFlags& flags) {
  add_text_flags(app, flags.text);
  add_model_flags(app, flags);
  add_data_flags(app, flags);
  add_optimizer_flags(app, flags);
  add_output_flags(app, flags);
}

GptConfig network_of(const TrainFlags& flags) {
  GptConfig config = gpt_preset(flags.preset);
  config.layers = flags.layers.value_or(config.layers);
  config.heads = flags.heads.value_or(config.heads);
  config.dim = flags.dim.value_or(config.dim);
  config.context = flags.context;
  config.tied = !flags.untied;
  config.position = find_scheme(flags.position);
  try {
    check_gpt_config(config);
  } catch (const std::invalid_argument& error) {
    throw Failure(kUsage, error.what());
  }
  return config;
}

TrainerOptions trainer_options(const TrainFlags& flags, const GptConfig& network, unsigned threads) {
  const std::uint64_t warmup = warmup_of(flags);
  if (warmup >= flags.steps) {
    throw Failure(
        kUsage, fmt::format("expected fewer steps in --warmup than in --steps = {}, received {}", flags.steps, warmup));
  }
  if (flags.least_rate > flags.rate) {
    throw Failure(kUsage,
                  fmt::format("expected --min-lr of at most --lr = {}, received {}", flags.rate, flags.least_rate));
  }
  TrainerOptions options;
  options.batches = {
      .batch_size = flags.batch_size, .context = flags.context, .held_out = flags.held_out, .seed = flags.seed};
  options.accumulate = flags.accumulate;
  options.optimizer = {.lr = flags.rate, .beta2 = flags.beta2, .weight_decay = flags.weight_decay};
  if (flags.schedule == "constant") {
    options.schedule = ConstantSchedule{.peak = flags.rate, .warmup = warmup};
  } else if (flags.schedule == "cosine") {
    options.schedule =
        CosineSchedule{.peak = flags.rate, .minimum = flags.least_rate, .warmup = warmup, .steps = flags.steps};
  } else {
    const std::uint64_t decay = std::max<std::uint64_t>(1, (flags.steps - warmup) / 10);
    options.schedule = WsdSchedule{.peak = flags.rate,
                                   .minimum = flags.least_rate,
                                   .warmup = warmup,
                                   .stable = flags.steps - warmup - decay,
                                   .decay = decay};
  }
  options.clip = flags.clip > 0 ? std::optional(flags.clip) : std::nullopt;
  options.threads = threads;
  if (flags.tables_only) {
    const GptLayout layout(network);
    for (std::size_t tensor = 0; tensor < layout.tensors().size(); ++tensor) {
      const bool is_table = tensor == layout.token_table() || tensor == layout.position_table();
      if (!is_table) options.frozen.push_back(layout.tensors()[tensor].name);
    }
  }
  return options;
}

std::map<std::string, std::string> lasting_flags(const TrainFlags& flags) {
  return {{"--steps", fmt::format("{}", flags.steps)},
          {"--batch-size", fmt::format("{}", flags.batch_size)},
          {"--context", fmt::format("{}", flags.context)},
          {"--accumulate", fmt::format("{}", flags.accumulate)},
          {"--held-out", fmt::format("{}", flags.held_out)},
          {"--seed", fmt::format("{}", flags.seed)},
          {"--lr", fmt::format("{}", flags.rate)},
          {"--schedule", flags.schedule},
          {"--warmup", fmt::format("{}", warmup_of(flags))},
          {"--min-lr", fmt::format("{}", flags.least_rate)},
          {"--weight-decay", fmt::format("{}", flags.weight_decay)},
          {"--beta2", fmt::format("{}", flags.beta2)},
          {"--clip", fmt::format("{}", flags.clip)},
          {"--tables-only", flags.tables_only ? "yes" : "no"},
          {"--weights", flags.weights.value_or("none")},
          {"--token-table", flags.token_table.value_or("none")}};
}

}  // namespace firstlayer::cli
