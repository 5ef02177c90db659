#pragma once
// What each step of a training sees: windows of a text in an order drawn from a seed. The end of the text is kept for
// measuring.

#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/feed/batches.h"
#include "firstlayer/feed/windows.h"

namespace firstlayer {

struct TrainingBatchOptions {
  std::size_t batch_size = 8;  ///< B
  std::size_t context = 64;    ///< T
  double held_out = 0.1;       ///< the share of the ids, at their end, that no step sees; 0: none
  std::uint64_t seed = 123;    ///< of the order
};

/// Batch `number` is the same whoever asks for it and when: a training that goes on needs to know no more than its
/// step.
class TrainingBatches {
 public:
  /// The caller owns the ids, which outlive this. Windows start every T ids and are shuffled anew in each epoch as
  /// PyTorch's DataLoader does; those that fill no batch are left out of the epoch. Throws std::invalid_argument for a
  /// size of 0, a held_out outside [0, 1), or a part too short: for a batch of the one, for a window of the other.
  TrainingBatches(std::span<const TokenId> ids, const TrainingBatchOptions& options);

  std::size_t ids() const noexcept { return training_.size(); }           ///< that steps see
  std::size_t held_out_ids() const noexcept { return held_out_.size(); }  ///< that they do not
  std::size_t batches() const noexcept { return order_.batches(); }       ///< of an epoch
  Shape<2> shape() const noexcept { return {options_.batch_size, options_.context}; }

  /// Writes batch `number`, counted from 0 through all epochs, and its targets, both (B, T).
  void copy(std::uint64_t number, Matrix<TokenId> inputs, Matrix<TokenId> targets);

  /// Windows of the held-out part, in the order of the text.
  std::size_t held_out_windows() const noexcept { return held_out_plan_.count; }

  /// Writes held-out windows first, first + 1, ... as many as the matrices (n, T) have rows.
  void copy_held_out(std::size_t first, Matrix<TokenId> inputs, Matrix<TokenId> targets) const;

 private:
  BatchOrder first_epoch() const;

  TrainingBatchOptions options_;
  std::span<const TokenId> training_;
  std::span<const TokenId> held_out_;
  WindowPlan plan_;
  WindowPlan held_out_plan_;
  BatchOrder order_;
  std::uint64_t epoch_ = 0;  ///< the one that order_ is at
};

}  // namespace firstlayer
