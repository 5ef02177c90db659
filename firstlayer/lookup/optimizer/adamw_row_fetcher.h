#pragma once
// Asks for the next row while the present one is worked on. Internal to the library.

#include <cstddef>

namespace firstlayer::adamw_kernels {

/// A row's parameters and moments, 3 d floats, on their way into the second-level cache. Asked for all at once, their
/// lines would fill the queue of open requests and hold up the present row's own loads.
class RowFetcher {
 public:
  RowFetcher() = default;

  /// p (d,) and moments (2, d); to be asked for in about `calls` calls of some().
  RowFetcher(const float* p, const float* moments, std::size_t dim, std::size_t calls)
      : p_(p),
        moments_(moments),
        p_lines_(lines(dim)),
        end_(p_lines_ + lines(2 * dim)),
        each_(end_ / (calls + 1) + 1) {}

  /// Asks for the share of `calls` calls.
  void some(std::size_t calls = 1) {
    for (std::size_t n = each_ * calls; n > 0 && next_ < end_; --n, ++next_) {
      const float* line = next_ < p_lines_ ? p_ + next_ * kLine : moments_ + (next_ - p_lines_) * kLine;
      __builtin_prefetch(line, 0, 2);
    }
  }

  void rest() {
    if (next_ < end_) some(end_);
  }

 private:
  static constexpr std::size_t kLine = 64 / sizeof(float);
  static std::size_t lines(std::size_t floats) { return (floats + kLine - 1) / kLine; }

  const float* p_ = nullptr;
  const float* moments_ = nullptr;
  std::size_t p_lines_ = 0;
  std::size_t end_ = 0;
  std::size_t each_ = 0;
  std::size_t next_ = 0;
};

}  // namespace firstlayer::adamw_kernels
