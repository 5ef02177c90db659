#include "firstlayer/lookup/optimizer/adamw_step.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace firstlayer {
namespace {

constexpr std::uint64_t kMantissaEnd = std::uint64_t{1} << 24;  // mantissas are whole numbers in [2^23, 2^24)
constexpr std::int64_t kNear = 64;

/// Calls use(x) for every mantissa x whose quotient x / b comes near a place where rounding changes.
///
/// Scaled by 2^k, k = 24 or 25, so that the quotient has 25 bits and the lowest one is behind the float's end, such
/// places are the odd numbers o, and x * 2^k = o * b + n says that the quotient is n / b > |n| 2^-24 units, that is
/// |n| 2^-25 ulp, from o. For a small n the remainders modulo 2^k leave few o, found with the inverse of b's odd part.
template <class Use>
void near_boundaries(std::uint64_t b, Use use) {
  const int twos = std::countr_zero(b);
  if ((std::int64_t{1} << twos) > kNear) return;  // 2^twos divides n, so n = 0: exact
  const std::uint64_t odd_part = b >> twos;
  std::uint64_t inverse = odd_part;  // modulo 2^64: correct bits double with each round, from 3
  for (int round = 0; round < 5; ++round) inverse *= 2 - odd_part * inverse;
  for (const int k : {24, 25}) {
    const std::uint64_t modulus = std::uint64_t{1} << (k - twos);
    for (std::int64_t n = -kNear; n <= kNear; ++n) {
      if (n == 0 || n % (std::int64_t{1} << twos) != 0) continue;
      const auto quotient_of_n = static_cast<std::uint64_t>(-(n / (std::int64_t{1} << twos)));
      for (std::uint64_t o = (quotient_of_n * inverse) & (modulus - 1); o < 2 * kMantissaEnd; o += modulus) {
        if (o <= kMantissaEnd || o % 2 == 0) continue;
        const std::uint64_t x = (o * b + static_cast<std::uint64_t>(n)) >> k;
        if (x >= kMantissaEnd / 2 && x < kMantissaEnd) use(static_cast<float>(x));
      }
    }
  }
}

/// `x` moved by `ulps` places.
float moved(float x, int ulps) {
  const float end = ulps > 0 ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  for (int i = 0; i < std::abs(ulps); ++i) x = std::nextafter(x, end);
  return x;
}

/// Intel's processors with AVX-512 need 18 cycles for the roots of a vector, in which they make 36 products; AMD's Zen
/// 4 needs 10 and makes as many.
bool has_slow_divider() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

}  // namespace

AdamWRule::AdamWRule(const AdamW& options)
    : beta1(options.beta1),
      beta2(options.beta2),
      weight_decay(options.weight_decay),
      gain1(static_cast<float>(1 - options.beta1)),
      gain2(static_cast<float>(1 - options.beta2)),
      decay2(static_cast<float>(options.beta2)),
      eps(static_cast<float>(options.eps)),
      divider_is_slow(has_slow_divider()) {
  for (std::size_t j = 0; j <= kBlock; ++j) {
    shrink[j] = static_cast<float>(std::pow(decay2, 0.5 * static_cast<double>(j)));
    grow[j] = static_cast<float>(std::pow(decay2, -0.5 * static_cast<double>(j)));
  }
}

// high is about 1/d and low about 1/d - high, so before its one rounding the sum is within 2^-23 ulp of x / d: it is
// rounded as x / d is, unless a boundary lies between. The quotients that come that near one are those of
// near_boundaries() with |n| <= 4, and with |n| <= 60 where high or low was moved by up to two units. All of them are
// tried here. Sometimes one fails; then another pair is taken.
ExactQuotient::ExactQuotient(float d) : divisor(d), high(1 / d), low(0), found(false) {
  const std::uint64_t mantissa = (std::bit_cast<std::uint32_t>(divisor) & 0x7fffff) | 0x800000;
  const float nearest = high;
  for (const int high_moved : {0, 1, -1, 2, -2}) {
    high = moved(nearest, high_moved);
    const auto rest = static_cast<float>(1 / static_cast<double>(divisor) - static_cast<double>(high));
    for (const int low_moved : {0, 1, -1, 2, -2}) {
      low = moved(rest, low_moved);
      found = true;
      near_boundaries(mantissa, [&](float x) { found = found && std::fma(x, high, x * low) == x / divisor; });
      if (found) return;
    }
  }
}

AdamWStep::AdamWStep(const AdamWRule& rule, double lr, std::uint64_t t)
    : rate(static_cast<float>(-lr / (1 - std::pow(rule.beta1, static_cast<double>(t))))),
      decay(static_cast<float>(1 - lr * rule.weight_decay)),
      root2(static_cast<float>(std::sqrt(1 - std::pow(rule.beta2, static_cast<double>(t))))) {}

}  // namespace firstlayer
