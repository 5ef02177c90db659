// The normal transform on vectors: operation for operation what normal_reference.cpp does on one number.

#include "firstlayer/base/normal_kernel.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/base/normal_kernel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::normal_kernel::HWY_NAMESPACE {

#if HWY_NATIVE_FMA

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::CappedTag<float, kBlock / 2>;  // a block holds 8 pairs, so wider vectors would straddle blocks
using Int = hn::RebindToSigned<Float>;
using FloatVec = hn::Vec<Float>;

HWY_INLINE FloatVec constant(float value) { return hn::Set(Float(), value); }

HWY_INLINE FloatVec natural_log(FloatVec x) {
  const Float df;
  const Int di;
  const auto bits = hn::BitCast(di, x);
  FloatVec exponent = hn::ConvertTo(df, hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 126)));
  const auto mantissa = hn::And(bits, hn::Set(di, 0x007fffff));
  const FloatVec m = hn::BitCast(df, hn::Or(mantissa, hn::Set(di, 0x3f000000)));
  const auto small = hn::Lt(m, constant(kSqrtHalf));
  exponent = hn::Sub(exponent, hn::IfThenElseZero(small, constant(1.0F)));
  const FloatVec f = hn::Add(hn::Sub(m, constant(1.0F)), hn::IfThenElseZero(small, m));

  const FloatVec square = hn::Mul(f, f);
  FloatVec y = constant(kLog[0]);
  for (std::size_t i = 1; i < std::size(kLog); ++i) y = hn::MulAdd(y, f, constant(kLog[i]));
  y = hn::Mul(y, f);
  y = hn::MulAdd(y, square, hn::Mul(exponent, constant(kLn2Low)));
  y = hn::NegMulAdd(square, constant(0.5F), y);
  return hn::MulAdd(exponent, constant(kLn2High), hn::Add(f, y));
}

HWY_INLINE void sin_cos(FloatVec x, FloatVec& sin, FloatVec& cos) {
  const Float df;
  const Int di;
  const auto one = hn::Set(di, 1);
  const auto two = hn::Set(di, 2);
  const auto four = hn::Set(di, 4);
  const auto octant = hn::AndNot(one, hn::Add(hn::ConvertTo(di, hn::Mul(x, constant(kFourOverPi))), one));
  const FloatVec count = hn::ConvertTo(df, octant);
  for (float part : kQuarterPiParts) x = hn::NegMulAdd(count, constant(part), x);
  const FloatVec square = hn::Mul(x, x);

  FloatVec cosine = hn::MulAdd(constant(kCos[0]), square, constant(kCos[1]));
  cosine = hn::MulAdd(cosine, square, constant(kCos[2]));
  cosine = hn::Mul(cosine, square);
  cosine = hn::MulSub(cosine, square, hn::Mul(square, constant(0.5F)));
  cosine = hn::Add(cosine, constant(1.0F));

  FloatVec sine = hn::MulAdd(constant(kSin[0]), square, constant(kSin[1]));
  sine = hn::MulAdd(sine, square, constant(kSin[2]));
  sine = hn::Mul(sine, square);
  sine = hn::MulAdd(sine, x, x);

  const auto straight = hn::RebindMask(df, hn::Eq(hn::And(octant, two), hn::Zero(di)));
  // Bit 2 of the octant, moved up, is the sign.
  const auto sin_sign = hn::ShiftLeft<29>(hn::And(octant, four));
  const auto cos_sign = hn::ShiftLeft<29>(hn::AndNot(hn::Sub(octant, two), four));
  sin = hn::Xor(hn::IfThenElse(straight, sine, cosine), hn::BitCast(df, sin_sign));
  cos = hn::Xor(hn::IfThenElse(straight, cosine, sine), hn::BitCast(df, cos_sign));
}

void transform_blocks(std::span<float> values, float mean, float std) {
  const Float df;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    float* block = values.data() + begin;
    for (std::size_t j = 0; j < kBlock / 2; j += hn::Lanes(df)) {
      const FloatVec u1 = hn::Sub(constant(1.0F), hn::LoadU(df, block + j));
      const FloatVec u2 = hn::LoadU(df, block + j + kBlock / 2);
      const FloatVec radius = hn::Sqrt(hn::Mul(constant(-2.0F), natural_log(u1)));
      FloatVec sin;
      FloatVec cos;
      sin_cos(hn::Mul(constant(kTwoPi), u2), sin, cos);
      hn::StoreU(hn::MulAdd(hn::Mul(radius, cos), constant(std), constant(mean)), df, block + j);
      hn::StoreU(hn::MulAdd(hn::Mul(radius, sin), constant(std), constant(mean)), df, block + j + kBlock / 2);
    }
  }
}

#else

void transform_blocks(std::span<float> values, float mean, float std) { transform_blocks_reference(values, mean, std); }

#endif  // HWY_NATIVE_FMA

}  // namespace firstlayer::normal_kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::normal_kernel {

HWY_EXPORT(transform_blocks);

void transform_blocks(std::span<float> values, float mean, float std) {
  HWY_DYNAMIC_DISPATCH(transform_blocks)(values, mean, std);
}

}  // namespace firstlayer::normal_kernel
#endif  // HWY_ONCE
