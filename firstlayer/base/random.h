#pragma once
// Random numbers, bit for bit those of PyTorch's CPU generator (docs/exactness.md says of which build).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace firstlayer {

/// torch.Generator().manual_seed(seed): a Mersenne Twister (MT19937) with PyTorch's ways to draw from it.
/// Copy it to fork the stream.
class Generator {
 public:
  /// Only the low 32 bits of the seed matter, as in PyTorch; a negative seed there is its two's complement here.
  explicit Generator(std::uint64_t seed);

  /// One draw of the twister.
  std::uint32_t next_u32();

  /// Two draws, the first in the high half.
  std::uint64_t next_u64();

  /// torch.Tensor.uniform_(low, high) on contiguous float32: 24 random bits each, in [low, high).
  /// Throws std::invalid_argument unless low <= high and both, and their distance, are finite as float.
  void fill_uniform(std::span<float> values, double low = 0.0, double high = 1.0);

  /// torch.Tensor.normal_(mean, std) on contiguous float32. From 16 values on it is the vector path (Box-Muller in
  /// blocks of 16); below it, the scalar double path, whose spare value is kept for the next call.
  /// Throws std::invalid_argument unless both are finite and std >= 0.
  void fill_normal(std::span<float> values, double mean = 0.0, double std = 1.0);

  /// torch.randperm(count, generator=self). Throws std::bad_alloc.
  std::vector<std::size_t> permutation(std::size_t count);

 private:
  void refill();
  void fill_unit(std::span<float> values);
  double next_unit_double();
  double next_normal();

  std::array<std::uint32_t, 624> state_;
  std::size_t next_ = 624;              ///< first unused word of state_
  std::optional<double> spare_normal_;  ///< second half of the last scalar Box-Muller pair
};

}  // namespace firstlayer
