// GELU on vectors. x / 2 (1 + tanh(u)) = x / (1 + e^(-2u)), which asks for one exponential.

#include "firstlayer/train/network/gelu.h"

#include <cstddef>

#include "firstlayer/base/threads.h"
#include "firstlayer/train/network/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/train/network/gelu.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "firstlayer/train/network/exp-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::gelu_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using firstlayer::vector_math::HWY_NAMESPACE::exp_of;
using Floats = hn::CappedTag<float, 16>;
using FloatVec = hn::Vec<Floats>;

constexpr float kTwice = 2 * 0.7978845608F;  // 2 sqrt(2 / pi)
constexpr float kCube = kTwice * 0.044715F;

/// 1 / (1 + e^(-2u)), where 2u = kTwice x + kCube x^3.
HWY_INLINE FloatVec sigmoid(FloatVec x) {
  const Floats df;
  const auto slope = hn::MulAdd(hn::Mul(x, x), hn::Set(df, -kCube), hn::Set(df, -kTwice));
  const auto negative = hn::Min(hn::Set(df, 88.0F), hn::Mul(x, slope));
  const auto one = hn::Set(df, 1.0F);
  return hn::Div(one, hn::Add(one, exp_of(df, negative)));
}

void gelu_part(const Gelu& job, std::size_t begin, std::size_t end) {
  const Floats df;
  for (std::size_t i = begin; i < end; i += hn::Lanes(df)) {
    const auto x = hn::Load(df, job.x + i);
    hn::Store(hn::Mul(x, sigmoid(x)), df, job.y + i);
  }
}

/// With s the sigmoid, d(x s) = s + x s (1 - s) d(2u).
void gelu_gradient_part(const GeluGradient& job, std::size_t begin, std::size_t end) {
  const Floats df;
  for (std::size_t i = begin; i < end; i += hn::Lanes(df)) {
    const auto x = hn::Load(df, job.x + i);
    const auto s = sigmoid(x);
    const auto y = hn::Mul(x, s);
    const auto du = hn::MulAdd(hn::Mul(x, x), hn::Set(df, 3 * kCube), hn::Set(df, kTwice));
    const auto rest = hn::Mul(y, hn::Sub(hn::Set(df, 1.0F), s));
    const auto dy = hn::Load(df, job.dy + i);
    hn::Store(y, df, job.y + i);
    hn::Store(hn::Mul(dy, hn::MulAdd(rest, du, s)), df, job.dx + i);
  }
}

}  // namespace firstlayer::gelu_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer {
namespace gelu_kernels {
HWY_EXPORT(gelu_part);
HWY_EXPORT(gelu_gradient_part);
}  // namespace gelu_kernels

void gelu(const Gelu& job) {
  using namespace gelu_kernels;
  parallel_for(job.count / kPanelRows, job.threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(gelu_part)(job, begin * kPanelRows, end * kPanelRows);
  });
}

void gelu_gradient(const GeluGradient& job) {
  using namespace gelu_kernels;
  parallel_for(job.count / kPanelRows, job.threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(gelu_gradient_part)(job, begin * kPanelRows, end * kPanelRows);
  });
}

}  // namespace firstlayer
#endif  // HWY_ONCE
