#pragma once
// The windows of a text in the order in which training sees them, read from a spool of its ids.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/flags.h"
#include "cli/id_spool.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/feed/batches.h"
#include "firstlayer/feed/windows.h"

namespace firstlayer::cli {

struct WindowFlags {
  std::uint64_t context = 4;
  std::optional<std::uint64_t> stride;  ///< the context if not given
  std::uint64_t batch_size = 8;
  bool shuffle = false;
  bool drop_last = false;
  std::uint64_t seed = 123;
};

inline constexpr char kWindowGroup[] = "Windows and batches";

/// --context, --stride, --batch-size, --shuffle, --drop-last and --seed.
void add_window_flags(CLI::App& app, WindowFlags& flags);

class WindowReader {
 public:
  /// `ids` must outlive this. Throws Failure (bad data) if the text is too short for a window, or for a batch.
  WindowReader(const IdSpool& ids, const WindowFlags& flags);

  const WindowPlan& plan() const noexcept { return plan_; }

  /// In an epoch, a short last one counted.
  std::size_t batches() const noexcept { return windows_ / batch_size_ + (windows_ % batch_size_ != 0 ? 1 : 0); }
  std::size_t batch_size() const noexcept { return batch_size_; }

  /// Windows in an epoch, those that are dropped not counted.
  std::size_t windows() const noexcept { return windows_; }

  /// The number of the window that is `place`th in this epoch.
  std::size_t window(std::size_t place) const;

  void next_epoch();

  /// Fills row b of inputs and targets, both (n, T), with the window at place first + b of this epoch.
  void read(std::size_t first, Matrix<TokenId> inputs, Matrix<TokenId> targets);

 private:
  const IdSpool& ids_;
  WindowPlan plan_;
  std::optional<BatchOrder> order_;  ///< with --shuffle; otherwise they come as they stand, and no list is kept
  std::size_t batch_size_;
  std::size_t windows_;
  std::vector<TokenId> stretch_;      ///< the ids under the windows being read
  std::vector<std::size_t> numbers_;  ///< the numbers of those windows
};

}  // namespace firstlayer::cli
