#include "firstlayer/base/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/normal_kernel.h"
#include "firstlayer/base/permutation.h"

namespace firstlayer {
namespace {

constexpr std::size_t kWords = 624;
constexpr std::size_t kShift = 397;  ///< how far ahead the recurrence of MT19937 reaches

std::uint32_t twist(std::uint32_t high, std::uint32_t low, std::uint32_t ahead) {
  const std::uint32_t mixed = (high & 0x80000000U) | (low & 0x7fffffffU);
  return ahead ^ mixed >> 1 ^ ((0U - (low & 1U)) & 0x9908b0dfU);
}

std::uint32_t temper(std::uint32_t word) {
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680U;
  word ^= word << 15 & 0xefc60000U;
  return word ^ word >> 18;
}

}  // namespace

Generator::Generator(std::uint64_t seed) {
  state_[0] = static_cast<std::uint32_t>(seed);
  for (std::uint32_t j = 1; j < kWords; ++j) state_[j] = 1812433253U * (state_[j - 1] ^ state_[j - 1] >> 30) + j;
}

// Three loops without a modulus, so that the compiler makes vectors of the first two.
void Generator::refill() {
  auto& s = state_;
  for (std::size_t k = 0; k < kWords - kShift; ++k) s[k] = twist(s[k], s[k + 1], s[k + kShift]);
  for (std::size_t k = kWords - kShift; k < kWords - 1; ++k) s[k] = twist(s[k], s[k + 1], s[k + kShift - kWords]);
  s[kWords - 1] = twist(s[kWords - 1], s[0], s[kShift - 1]);
  next_ = 0;
}

std::uint32_t Generator::next_u32() {
  if (next_ == kWords) refill();
  return temper(state_[next_++]);
}

std::uint64_t Generator::next_u64() {
  const std::uint64_t high = next_u32();
  return high << 32 | next_u32();
}

/// Uniform in [0, 1), 24 bits each.
void Generator::fill_unit(std::span<float> values) {
  while (!values.empty()) {
    if (next_ == kWords) refill();
    const std::size_t count = std::min(values.size(), kWords - next_);
    const std::uint32_t* words = state_.data() + next_;
    for (std::size_t i = 0; i < count; ++i) {
      // Through a signed integer, which every vector unit converts; 24 bits fit it exactly.
      values[i] = static_cast<float>(static_cast<std::int32_t>(temper(words[i]) & 0xffffffU)) * 0x1p-24F;
    }
    next_ += count;
    values = values.subspan(count);
  }
}

void Generator::fill_uniform(std::span<float> values, double low, double high) {
  const auto from = static_cast<float>(low);
  const auto to = static_cast<float>(high);
  if (!(std::isfinite(from) && std::isfinite(to) && from <= to && std::isfinite(to - from))) {
    throw_invalid("Generator::fill_uniform", "finite low <= high",
                  std::to_string(low) + " and " + std::to_string(high));
  }
  fill_unit(values);
  if (from == 0.0F && to == 1.0F) return;
  for (float& value : values) {
    value = std::fma(value, to - from, from);
    if (value == to) value = from;  // rounded up to the bound that is excluded
  }
}

void Generator::fill_normal(std::span<float> values, double mean, double std) {
  using normal_kernel::kBlock;
  if (!(std::isfinite(mean) && std::isfinite(std) && std >= 0.0)) {
    throw_invalid("Generator::fill_normal", "finite mean and std >= 0",
                  std::to_string(mean) + " and " + std::to_string(std));
  }
  if (values.size() < kBlock) {
    for (float& value : values) value = static_cast<float>(std::fma(next_normal(), std, mean));
    return;
  }
  const auto transform = [&](std::span<float> blocks) {
    normal_kernel::transform_blocks(blocks, static_cast<float>(mean), static_cast<float>(std));
  };
  // PyTorch draws all uniforms, then transforms; in parts that stay in the first-level cache the result is the same.
  constexpr std::size_t kPart = 2048;
  const std::size_t whole = values.size() / kBlock * kBlock;
  for (std::size_t begin = 0; begin < whole; begin += kPart) {
    const auto part = values.subspan(begin, std::min(kPart, whole - begin));
    fill_unit(part);
    transform(part);
  }
  if (whole == values.size()) return;
  // The rest is drawn, thrown away, and the last 16 values are drawn again.
  fill_unit(values.subspan(whole));
  const auto last = values.last(kBlock);
  fill_unit(last);
  transform(last);
}

/// Uniform in [0, 1), 53 bits.
double Generator::next_unit_double() {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 53) - 1;
  return static_cast<double>(next_u64() & kMask) * 0x1p-53;
}

double Generator::next_normal() {
  if (spare_normal_) return *std::exchange(spare_normal_, std::nullopt);
  const double u1 = next_unit_double();
  const double u2 = next_unit_double();
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double theta = 2.0 * std::numbers::pi * u1;
  spare_normal_ = radius * std::sin(theta);
  return radius * std::cos(theta);
}

std::vector<std::size_t> Generator::permutation(std::size_t count) {
  return count < kManyElements ? shuffle_few(count, *this) : shuffle_many(count, *this);
}

std::vector<std::size_t> shuffle_few(std::size_t count, Generator& generator) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i + 1 < count; ++i) std::swap(order[i], order[i + generator.next_u32() % (count - i)]);
  return order;
}

std::vector<std::size_t> shuffle_many(std::size_t count, Generator& generator) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t z = generator.next_u64() % (i + 1);
    order[i] = order[z];
    order[z] = i;
  }
  return order;
}

}  // namespace firstlayer
