#pragma once
// Rotary positions (RoPE): pairs of numbers of every query and key turn by an angle that grows with the position, so
// that the score of a query and a key depends on their distance alone. Nothing is added to the input tensor.

#include <cstddef>
#include <optional>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/position/rotary_scaling.h"

namespace firstlayer {

/// Which numbers of a head rotate together, r being rotary_dim.
enum class RotaryPairing {
  kHalves,       ///< i and i + r/2: GPT-NeoX, Llama
  kInterleaved,  ///< 2i and 2i + 1: the paper, GPT-J
};

struct RotaryOptions {
  std::size_t head_dim;                        ///< numbers in a query or key
  std::optional<std::size_t> rotary_dim = {};  ///< how many of them rotate, the first ones; all if not given
  double base = 10000;
  RotaryPairing pairing = RotaryPairing::kHalves;
  RotaryScaling scaling = NoScaling{};
};

/// The cosines and sines of positions 0 .. context-1. Angles are computed in double and rounded once, as cosine and
/// sine. With a scaling that depends on the length of the text, `context` is that length.
class RotaryTable {
 public:
  /// Throws std::invalid_argument for a context of 0, a rotary_dim above head_dim, and as rotary_frequencies().
  RotaryTable(const RotaryOptions& options, std::size_t context);

  const RotaryFrequencies& frequencies() const noexcept { return frequencies_; }
  View<const float, 2> cosines() const { return cosines_; }  ///< (context, r/2), times the attention factor
  View<const float, 2> sines() const { return sines_; }      ///< (context, r/2), times the attention factor

  /// Rotates queries or keys (B, heads, T, head_dim) in place; t stands at position offset + t, the offset being the
  /// ids in a key-value cache. A tensor (…, T, head_dim) is one of (1, …, T, head_dim). The bits do not depend on
  /// `threads` (0: all). Throws std::invalid_argument for another width, std::out_of_range if offset + T exceeds the
  /// context. Nothing is written then.
  void rotate(View<float, 4> x, std::size_t offset = 0, unsigned threads = 0) const;

  /// The same at positions (B, T). Throws std::invalid_argument for positions of another shape, std::out_of_range
  /// naming one that is not below the context and its (b, t).
  void rotate(View<float, 4> x, View<const TokenId, 2> positions, unsigned threads = 0) const;

  /// The way back: from the gradient of rotate()'s result to that of its argument, in place. That is the rotation by
  /// the negative angle, and once more times the attention factor. Throws as rotate().
  void rotate_gradient(View<float, 4> dx, std::size_t offset = 0, unsigned threads = 0) const;
  void rotate_gradient(View<float, 4> dx, View<const TokenId, 2> positions, unsigned threads = 0) const;

 private:
  RotaryPairing pairing_;
  std::size_t head_dim_;
  RotaryFrequencies frequencies_;
  Tensor<float, 2> cosines_;
  Tensor<float, 2> sines_;
};

}  // namespace firstlayer
