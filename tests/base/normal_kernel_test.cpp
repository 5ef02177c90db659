#include "firstlayer/base/normal_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "hwy/highway.h"

namespace firstlayer::normal_kernel {
namespace {

constexpr std::uint32_t kUniforms = 1U << 24;

/// Blocks in which, over all of them, u1 and u2 each take every `step`-th value a 24-bit uniform can have.
std::vector<float> sweep(std::uint32_t step) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < kUniforms; i += step) {
    values.push_back(static_cast<float>(i) * 0x1p-24F);
    if (values.size() % kBlock != kBlock / 2) continue;
    for (std::uint32_t j = 0; j < kBlock / 2; ++j) {  // u2: the same values in another order
      const std::uint32_t k = (i - j * step) * 2654435761U % kUniforms;
      values.push_back(static_cast<float>(k) * 0x1p-24F);
    }
  }
  values.resize(values.size() / kBlock * kBlock);
  return values;
}

/// Index of the first value whose bits differ; values.size() if none does.
std::size_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  const auto same = [](float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); };
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), same).first - a.begin());
}

TEST(NormalKernel, EqualsTheReferenceOnEveryInstructionSetOfThisProcessor) {
  const std::vector<float> uniforms = sweep(11);
  std::vector<float> expected = uniforms;
  transform_blocks_reference(expected, 0.25F, 0.02F);

  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    std::vector<float> received = uniforms;
    transform_blocks(received, 0.25F, 0.02F);
    EXPECT_EQ(first_difference(expected, received), expected.size()) << "on " << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(NormalKernel, IsFiniteAtTheEdgesOfTheUniforms) {
  constexpr float kLast = 1.0F - 0x1p-24F;
  for (float u1 : {0.0F, 0x1p-24F, kLast}) {
    for (float u2 : {0.0F, 0.25F, 0.5F, 0.75F, kLast}) {
      std::vector<float> block(kBlock, u2);
      std::fill_n(block.begin(), kBlock / 2, u1);
      transform_blocks(block, 0.0F, 1.0F);
      for (float value : block) EXPECT_LT(std::abs(value), 5.8F) << u1 << ' ' << u2;  // sqrt(-2 ln 2^-24) = 5.77
    }
  }
}

}  // namespace
}  // namespace firstlayer::normal_kernel
