#include "firstlayer/lookup/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "hwy/highway.h"

namespace firstlayer::row_kernels {
namespace {

/// A lookup of random rows whose output starts `offset` floats after an aligned address.
class RandomLookup {
 public:
  RandomLookup(const Shape<3>& shape, std::size_t offset, Generator& generator)
      : shape_(shape),
        offset_(offset),
        table_({kVocabulary, shape[2]}),
        positions_({shape[1], shape[2]}),
        ids_({shape[0], shape[1]}) {
    generator.fill_normal(table_.flat());
    generator.fill_normal(positions_.flat());
    for (TokenId& id : ids_.flat()) id = generator.next_u32() % kVocabulary;
  }

  /// What `run` makes of the lookup. Checks that nothing beside the output is written.
  template <class Run>
  std::vector<float> output(bool with_positions, Run run) {
    static constexpr float kUntouched = -77.0F;
    const std::size_t count = element_count(shape_);
    Tensor<float, 1> memory({offset_ + count + 16});
    std::ranges::fill(memory.flat(), kUntouched);
    const View<float, 3> out(memory.flat().subspan(offset_, count), shape_);
    run({table_, with_positions ? positions_.flat().data() : nullptr, ids_, out});

    const auto untouched = [](std::span<const float> values) {
      return std::ranges::all_of(values, [](float value) { return value == kUntouched; });
    };
    EXPECT_TRUE(untouched(memory.flat().first(offset_)) && untouched(memory.flat().subspan(offset_ + count)));
    return {out.flat().begin(), out.flat().end()};
  }

 private:
  static constexpr TokenId kVocabulary = 97;
  Shape<3> shape_;
  std::size_t offset_;
  Tensor<float, 2> table_;
  Tensor<float, 2> positions_;
  Tensor<TokenId, 2> ids_;
};

/// Empty if the bits are equal, else the first difference.
std::string difference(const std::vector<float>& expected, const std::vector<float>& received) {
  if (expected.size() != received.size()) return "sizes";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(expected[i]) != std::bit_cast<std::uint32_t>(received[i])) {
      return "at " + std::to_string(i) + ": " + std::to_string(expected[i]) + ", " + std::to_string(received[i]);
    }
  }
  return "";
}

void expect_equal_to_reference(const Shape<3>& shape, std::size_t offset, Generator& generator) {
  SCOPED_TRACE(shape_text(shape) + " at " + std::to_string(offset));
  RandomLookup lookup(shape, offset, generator);
  for (bool with_positions : {false, true}) {
    const std::vector<float> expected = lookup.output(with_positions, run_reference);
    for (bool stream : {false, true}) {
      for (unsigned threads : {1U, 3U}) {
        const auto received = lookup.output(with_positions, [&](const Job& job) { run(job, threads, stream); });
        EXPECT_EQ(difference(expected, received), "") << threads << " threads, stream " << stream;
      }
    }
  }
}

class RowKernels : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { choose(GetParam()); }
  void TearDown() override { choose(0); }

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(RowKernels, EqualTheReferenceOnSmallShapes) {
  Generator generator(1);
  const std::vector<Shape<3>> shapes = {{1, 1, 1},   {1, 1, 3}, {3, 1, 1},    {1, 5, 1},    {2, 3, 16},
                                        {8, 4, 256}, {2, 9, 7}, {5, 33, 17},  {1, 2, 5000}, {3, 2, 4097},
                                        {0, 4, 8},   {4, 0, 8}, {2, 300, 768}};
  for (const Shape<3>& shape : shapes) {
    for (std::size_t offset : {0U, 1U, 5U, 8U}) expect_equal_to_reference(shape, offset, generator);
  }
}

TEST_P(RowKernels, EqualTheReferenceOnRandomShapes) {
  Generator generator(2);
  for (int round = 0; round < 60; ++round) {
    const Shape<3> shape = {1 + generator.next_u32() % 6, 1 + generator.next_u32() % 70,
                            1 + generator.next_u32() % 300};
    expect_equal_to_reference(shape, generator.next_u32() % 16, generator);
  }
}

std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> each;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1)
    each.push_back(rest & -rest);
  return each;
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, RowKernels, ::testing::ValuesIn(targets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

}  // namespace
}  // namespace firstlayer::row_kernels
