#pragma once
// Uniform numbers -> normal numbers by Box-Muller, with the bits of PyTorch's AVX2 and AVX-512 builds on every
// processor. Internal to the library; Generator::fill_normal is its user.
//
// A block is 16 uniforms in [0, 1). For j < 8, with u1 = 1 - block[j] and u2 = block[j + 8]:
//   r = sqrt(-2 ln u1), theta = 2 pi u2, block[j] = fma(r cos theta, std, mean), block[j + 8] = fma(r sin theta, std,
//   mean)
// Logarithm, sine and cosine are the single-precision polynomials of the Cephes library (Moshier). Which products are
// fused with the sum that follows decides the last bit, so each fusion is written out and the library is compiled
// with -ffp-contract=off.

#include <cstddef>
#include <span>

namespace firstlayer::normal_kernel {

inline constexpr std::size_t kBlock = 16;

/// Transforms in place; values.size() is a multiple of kBlock. The readable definition.
void transform_blocks_reference(std::span<float> values, float mean, float std);

/// The same bits on the vectors of this processor; without fused multiply-add it is the reference.
void transform_blocks(std::span<float> values, float mean, float std);

/// Coefficients of the polynomials, highest power first.
inline constexpr float kLog[] = {7.0376836292e-2F,  -1.1514610310e-1F, 1.1676998740e-1F,
                                 -1.2420140846e-1F, 1.4249322787e-1F,  -1.6668057665e-1F,
                                 2.0000714765e-1F,  -2.4999993993e-1F, 3.3333331174e-1F};
inline constexpr float kSin[] = {-1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F};
inline constexpr float kCos[] = {2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F};

/// ln 2 in two parts; the first has few bits, so that its product with an exponent is exact.
inline constexpr float kLn2High = 0.693359375F;
inline constexpr float kLn2Low = -2.12194440e-4F;
inline constexpr float kSqrtHalf = 0.707106781186547524F;

/// pi / 4 in three parts, for a reduction that loses nothing.
inline constexpr float kQuarterPiParts[] = {0.78515625F, 2.4187564849853515625e-4F, 3.77489497744594108e-8F};
inline constexpr float kFourOverPi = 1.27323954473516F;
inline constexpr float kTwoPi = 6.283185307179586476925F;

}  // namespace firstlayer::normal_kernel
