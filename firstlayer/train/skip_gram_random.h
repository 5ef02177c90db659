#pragma once
// Random numbers for skip-gram, which draws several for each pair of words. Internal to the library.

#include <cstdint>

namespace firstlayer::skip_gram {

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): a counter that is mixed,
/// so that draws do not wait for each other.
class Random {
 public:
  /// Each pair of `seed` and `stream` starts elsewhere.
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(mix(seed) + stream)) {}

  std::uint64_t next() { return mix(state_ += kStep); }

  /// One of 0 .. bound - 1, each as likely within bound / 2^32 of that.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((next() >> 32) * bound >> 32); }

  static constexpr std::uint64_t kStep = 0x9E37'79B9'7F4A'7C15;  // 2^64 divided by the golden ratio

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace firstlayer::skip_gram
