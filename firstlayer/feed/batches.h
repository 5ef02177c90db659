#pragma once
// In which order the windows are seen, and how they are grouped: batch for batch as PyTorch's DataLoader.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "firstlayer/base/random.h"

namespace firstlayer {

struct BatchOptions {
  std::size_t batch_size = 8;  ///< B
  bool drop_last = false;      ///< leave out a last batch shorter than B
  bool shuffle = false;
  std::uint64_t seed = 0;  ///< of torch.manual_seed before the loader runs; used only with shuffle
};

/// Hands out the batches of one epoch after another as window numbers.
class BatchOrder {
 public:
  /// Throws std::invalid_argument if there are no windows, batch_size is 0, or drop_last leaves no batch.
  BatchOrder(std::size_t windows, const BatchOptions& options);

  /// Batches in an epoch, the short last one counted unless it is dropped.
  std::size_t batches() const noexcept;

  /// Starts the next epoch. With shuffle it draws what iter(DataLoader(…, shuffle=True)) draws from the default
  /// generator after torch.manual_seed(seed): a base seed, then the sampler's seed, whose own generator gives
  /// randperm(windows). The constructor has started the first epoch.
  void next_epoch();

  /// The windows of batch `index` of this epoch: B of them, fewer in a short last batch. Valid until next_epoch().
  /// Throws std::out_of_range.
  std::span<const std::size_t> batch(std::size_t index) const;

 private:
  BatchOptions options_;
  Generator generator_;
  std::vector<std::size_t> order_;
};

}  // namespace firstlayer
