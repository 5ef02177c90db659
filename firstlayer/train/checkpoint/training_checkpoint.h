#pragma once
// A training run on disk: weights, moments, and where the run stands, so that it goes on to the bit.
// A root folder holds one folder for each checkpoint, step-00000100, and the last of them is the newest.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/train/network/gpt_adamw.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

/// The loss on the held-out text after a step.
struct HeldOutLoss {
  std::uint64_t step;
  double loss;

  bool operator==(const HeldOutLoss&) const = default;
};

/// How a run came to where it stands.
struct TrainingHistory {
  std::vector<double> losses{};         ///< of each step, the newest last
  std::vector<HeldOutLoss> held_out{};  ///< ascending by step

  bool operator==(const TrainingHistory&) const = default;
};

/// What a run needs to go on, beside its weights, moments and steps: TrainingBatches follow from the seed and the step.
struct TrainingState {
  std::uint64_t seed = 0;
  TrainingHistory history = {};
  /// Whatever else the trainer must find again, in UTF-8: its flags, a hash of its data.
  std::map<std::string, std::string> notes = {};

  bool operator==(const TrainingState&) const = default;
};

/// Writes ROOT/step-N, N being the optimizer's steps, and then removes all but the newest `keep_last` (0: none is
/// removed). The folder is one that load_gpt() and transformers read, with optimizer.safetensors, history.safetensors
/// and training.json beside. It appears whole or not at all: after an error nothing of it is left, after a kill the
/// checkpoints that were there are as they were, and the next call takes away what was hidden. One run at a time writes
/// to a root. Throws FileError; std::invalid_argument for notes that are not UTF-8, and for a root with a checkpoint
/// beyond step N, which would be taken for the newest of this run:
///   [save_training] expected no checkpoint beyond step 2, received run/step-00000004; remove it or choose another root
std::filesystem::path save_training(const std::filesystem::path& root, const GptAdamW& optimizer,
                                    const TrainingState& state, std::size_t keep_last = 0);

/// The checkpoints of a root, oldest first; none if there is no such folder.
std::vector<std::filesystem::path> training_checkpoints(const std::filesystem::path& root);

/// A checkpoint that save_training() wrote.
class TrainingCheckpoint {
 public:
  /// `path` is a checkpoint, or a root, of which it takes the newest. Throws FileError if there is none; FormatError
  /// for one of another version, or with a file that is missing or cut short.
  explicit TrainingCheckpoint(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  const GptConfig& config() const noexcept { return config_; }
  const AdamW& options() const noexcept { return options_; }  ///< with the learning rate of the last step
  std::uint64_t step() const noexcept { return step_; }
  const TrainingState& state() const noexcept { return state_; }

  /// Puts weights, moments, steps and learning rate into an optimizer and its `parameters`. Throws FormatError if the
  /// network is of another configuration, the optimizer has other options than the learning rate or other frozen
  /// tensors, or a file's content is not what was written; then nothing has changed.
  void restore(GptParameters& parameters, GptAdamW& optimizer) const;

 private:
  struct StoredFile {
    std::uint64_t bytes;
    std::uint64_t hash;  ///< of the tensors
  };

  void check_target(const GptParameters& parameters, const GptAdamW& optimizer) const;

  std::filesystem::path path_;
  GptConfig config_;
  AdamW options_;
  std::uint64_t step_ = 0;
  TrainingState state_;
  std::vector<std::string> frozen_;
  std::map<std::string, StoredFile> files_;
};

}  // namespace firstlayer
