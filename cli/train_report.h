#pragma once
// What a training has learned, as JSON and as a page to look at.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "cli/token_text.h"
#include "cli/train_flags.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/train/checkpoint/training_checkpoint.h"
#include "firstlayer/train/network/gpt_parameters.h"
#include "firstlayer/train/trainer/training_batches.h"

namespace firstlayer::cli {

/// A run that has ended. It refers to what others own.
struct EndedRun {
  const TrainFlags& flags;
  const Tokenizer& tokenizer;
  std::span<const TokenId> ids;  ///< of the text, the held-out ones too
  const TrainingBatches& batches;
  View<const float, 2> start;  ///< the token table before the first step
  const GptParameters& parameters;
  const TrainingHistory& history;       ///< up to the last step
  std::optional<HeldOutLoss> held_out;  ///< after the last step, if there is a held-out text
  std::uint64_t first_step;             ///< the run was taken up after it; 0 if it began anew
  std::uint64_t steps;                  ///< the last step
  double seconds;                       ///< from first_step on
  std::vector<TokenId> shown;           ///< whose neighbours are shown; empty: frequent words
};

/// docs/train.md lists what it holds. The same for any number of threads but for `time`.
Json train_report(const EndedRun& run, unsigned threads);

/// Writes report.json and report.html, each whole or not at all. Throws FileError.
void write_train_report(const std::filesystem::path& folder, const Json& report);

}  // namespace firstlayer::cli
