#pragma once
// Memory that later work needs, asked for while products are made. Internal to the library.

#include <cstddef>
#include <cstdint>

namespace firstlayer {

/// Asks for rows in even steps over some work. A processor has only a few dozen lines of its cache on their way: asked
/// for all together, more would stop it.
class Prefetcher {
 public:
  /// Rows of numbers that lie apart.
  struct Rows {
    const float* from;
    std::size_t stride;  ///< numbers from one row to the next
    std::size_t rows;
    std::size_t count;  ///< numbers of a row
  };

  /// Nothing to ask for.
  Prefetcher() = default;

  /// Spread over so many multiplications.
  Prefetcher(const Rows& rows, std::size_t multiplications)
      : row_(reinterpret_cast<const char*>(rows.from)),
        stride_(rows.stride * sizeof(float)),
        rows_(rows.rows),
        lines_((reinterpret_cast<std::uintptr_t>(row_) % kLine + rows.count * sizeof(float) + kLine - 1) / kLine),
        rate_(static_cast<float>(rows_ * lines_) / static_cast<float>(multiplications)) {}

  /// So many of them are about to be done.
  void advance(std::size_t multiplications) {
    for (due_ += rate_ * static_cast<float>(multiplications); due_ >= 1 && rows_ > 0; due_ -= 1) ask();
  }

 private:
  static constexpr std::size_t kLine = 64;

  void ask() {
    __builtin_prefetch(row_ + line_ * kLine, 0, 2);  // into the second cache: the products fill the first
    if (++line_ < lines_) return;
    line_ = 0;
    row_ += stride_;
    --rows_;
  }

  const char* row_ = nullptr;
  std::size_t stride_ = 0;
  std::size_t rows_ = 0;   ///< that are left
  std::size_t lines_ = 0;  ///< of a row
  std::size_t line_ = 0;   ///< the next one of this row
  float rate_ = 0;         ///< lines for a multiplication
  float due_ = 0;
};

}  // namespace firstlayer
