#pragma once
// Dropout with PyTorch's bits: which numbers are dropped is drawn once, and the same is done to the numbers on the way
// forward and to their gradient on the way back.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/random.h"

namespace firstlayer {

class DropoutMask {
 public:
  /// Drops nothing, of nothing.
  DropoutMask() = default;

  /// draw() on a new object.
  DropoutMask(std::size_t count, double p, Generator& generator) { draw(count, p, generator); }

  /// Drops each of `count` numbers with probability p, as torch.nn.functional.dropout(training=True): one double draw
  /// for each, in their order, keeps what is below 1 - p; for a p of 0 or 1 nothing is drawn. One thread draws, so that
  /// the mask is that of the seed. Reuses the memory. Throws std::invalid_argument unless 0 <= p <= 1.
  void draw(std::size_t count, double p, Generator& generator);

  std::size_t size() const noexcept { return size_; }
  bool keeps(std::size_t i) const { return (kept_[i / 64] >> i % 64 & 1U) != 0; }  ///< i < size(), not checked
  float scale() const noexcept { return scale_; }  ///< 1 / (1 - p), what kept numbers are multiplied by; 0 for p = 1

  /// out[i] = in[i] * scale() where the number is kept, in[i] * 0 elsewhere, so that -1 becomes -0 and NaN stays NaN.
  /// `out` is `in` or does not overlap it. Throws std::invalid_argument for other lengths than size().
  void apply(std::span<const float> in, std::span<float> out, unsigned threads = 0) const;

  /// The same for numbers [begin, begin + row.size()), in place; the range is not checked.
  void apply_at(std::size_t begin, std::span<float> row) const;

 private:
  std::size_t size_ = 0;
  float scale_ = 1.0F;
  std::vector<std::uint64_t> kept_;  ///< a bit for each number
};

}  // namespace firstlayer
