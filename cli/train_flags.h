#pragma once
// The flags of train, and what they ask of the library.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/text_input.h"
#include "firstlayer/train/network/gpt_config.h"
#include "firstlayer/train/trainer/trainer.h"

namespace firstlayer::cli {

struct TrainFlags {
  TextFlags text;
  std::optional<std::string> ids;

  std::string preset = "nano";
  std::optional<std::uint64_t> layers;
  std::optional<std::uint64_t> heads;
  std::optional<std::uint64_t> dim;
  bool untied = false;
  std::string position = "learned";
  std::optional<std::string> weights;
  std::optional<std::string> token_table;
  bool tables_only = false;

  std::uint64_t steps = 1000;
  std::uint64_t batch_size = 8;
  std::uint64_t context = 64;
  std::uint64_t accumulate = 1;
  double held_out = 0.1;
  std::uint64_t seed = 123;

  double rate = 1e-3;
  std::string schedule = "cosine";
  std::optional<std::uint64_t> warmup;
  double least_rate = 0;
  double weight_decay = 0.1;
  double beta2 = 0.95;
  double clip = 1;

  std::optional<std::string> output;
  std::uint64_t save_every = 500;
  std::uint64_t keep = 2;
  bool resume = false;
  std::uint64_t evaluate_every = 100;
  std::uint64_t sample_every = 0;
  bool report = false;
  std::vector<std::string> report_tokens;
};

void add_train_flags(CLI::App& app, TrainFlags& flags);

/// The network that a run starts with. Throws Failure for sizes that do not fit.
GptConfig network_of(const TrainFlags& flags);

/// Throws Failure for a warm-up that is longer than the run.
TrainerOptions trainer_options(const TrainFlags& flags, const GptConfig& network, unsigned threads);

/// What must be the same when a run goes on, by flag: "--lr" is "0.001".
std::map<std::string, std::string> lasting_flags(const TrainFlags& flags);

}  // namespace firstlayer::cli
