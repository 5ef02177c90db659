#pragma once
// Positions that nobody learns: a sine and a cosine of each of d/2 wavelengths, from 2 pi to about 10000 * 2 pi
// ("Attention Is All You Need", section 3.5).

#include <cstddef>

#include "firstlayer/base/tensor.h"

namespace firstlayer {

/// In which column a wave lies, and how long it is.
enum class SinusoidalLayout {
  /// The paper's: P[t, 2i] = sin(t / 10000^(2i/d)), P[t, 2i+1] = cos of the same. With an odd d the last wave has its
  /// sine alone.
  kInterleaved,
  /// tensor2tensor's, of h = floor(d/2) waves: P[t, i] = sin(t / 10000^(i/(h-1))), P[t, h+i] = cos of the same. With
  /// an odd d the last column is 0. (With h = 1 the one wavelength is 2 pi.)
  kHalves,
};

/// The position table (context, dim), which goes into InputEmbedding as a learned one would. Angles, sines and cosines
/// are computed in double and rounded once; in float32, as published code computes them, values near
/// position 1,000 are off by up to 4e-5. Throws std::invalid_argument if a size is 0.
Tensor<float, 2> sinusoidal_table(std::size_t context, std::size_t dim,
                                  SinusoidalLayout layout = SinusoidalLayout::kInterleaved);

}  // namespace firstlayer
