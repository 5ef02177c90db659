#pragma once
// What happens to a gradient that is infinite or not a number. Internal to the library.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/optimizer/non_finite_gradient.h"

namespace firstlayer {

/// Where a step met numbers that are not finite. The step treats them as zeros, so that it is whole when it says so:
/// looking for them in a pass of its own would cost as much as a third of the step. Threads may report at once.
class NonFinite {
 public:
  void report(std::size_t row, std::size_t column) noexcept {
    const Place place = static_cast<Place>(row) << 32 | static_cast<std::uint32_t>(column);
    Place first = first_.load(std::memory_order_relaxed);
    while (place < first && !first_.compare_exchange_weak(first, place, std::memory_order_relaxed)) {
    }
  }

  /// Throws NonFiniteGradient naming the first place that was reported, which is then forgotten.
  void throw_if_reported(std::string_view where) {
    const Place first = first_.exchange(kNone, std::memory_order_relaxed);
    if (first == kNone) return;
    const std::size_t row = first >> 32;
    const std::size_t column = first & 0xffffffffU;
    const std::string received = "inf or NaN for row " + std::to_string(row) + ", column " + std::to_string(column) +
                                 "; the step was taken with zeros in place of numbers that are not finite";
    throw NonFiniteGradient(mismatch_message(where, "a finite gradient", received), row, column);
  }

 private:
  using Place = std::uint64_t;  ///< row, then column
  static constexpr Place kNone = std::numeric_limits<Place>::max();

  std::atomic<Place> first_{kNone};
};

}  // namespace firstlayer
