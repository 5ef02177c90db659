#include "firstlayer/lookup/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer::row_kernels {
namespace {

/// What a lookup does beside picking rows.
struct Extras {
  bool positions = false;
  bool position_ids = false;
  bool scale = false;
  bool finish = false;
};
constexpr Extras kAllExtras[] = {{},
                                 {.scale = true},
                                 {.finish = true},
                                 {.positions = true},
                                 {.positions = true, .scale = true},
                                 {.positions = true, .position_ids = true},
                                 {.positions = true, .position_ids = true, .scale = true, .finish = true}};

/// A lookup of random rows whose output starts `offset` floats after an aligned address.
class RandomLookup {
 public:
  RandomLookup(const Shape<3>& shape, std::size_t offset, Generator& generator)
      : shape_(shape),
        offset_(offset),
        table_({kVocabulary, shape[2]}),
        positions_({shape[1], shape[2]}),
        ids_({shape[0], shape[1]}),
        position_ids_({shape[0], shape[1]}) {
    generator.fill_normal(table_.flat());
    generator.fill_normal(positions_.flat());
    for (TokenId& id : ids_.flat()) id = generator.next_u32() % kVocabulary;
    for (TokenId& id : position_ids_.flat()) id = generator.next_u32() % static_cast<TokenId>(shape[1]);
  }

  /// What `run` makes of the lookup. Checks that nothing beside the output is written.
  template <class Run>
  std::vector<float> output(const Extras& extras, Run run) {
    static constexpr float kUntouched = -77.0F;
    const std::size_t count = element_count(shape_);
    Tensor<float, 1> memory({offset_ + count + 16});
    std::ranges::fill(memory.flat(), kUntouched);
    const View<float, 3> out(memory.flat().subspan(offset_, count), shape_);
    Job job{table_, extras.positions ? positions_.flat().data() : nullptr, ids_, out};
    if (extras.scale) job.scale = 27.712812F;  // sqrt(768)
    if (extras.position_ids) job.position_ids = position_ids_.flat().data();
    const Finish finish = [](std::size_t place, std::span<float> row) {
      for (float& value : row) value = static_cast<float>(place) - value;
    };
    if (extras.finish) job.finish = &finish;
    run(job);

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
  Tensor<TokenId, 2> position_ids_;
};

void expect_equal_to_reference(const Shape<3>& shape, std::size_t offset, Generator& generator) {
  SCOPED_TRACE(shape_text(shape) + " at " + std::to_string(offset));
  RandomLookup lookup(shape, offset, generator);
  for (const Extras& extras : kAllExtras) {
    const std::vector<float> expected = lookup.output(extras, run_reference);
    for (bool stream : {false, true}) {
      for (unsigned threads : {1U, 3U}) {
        const auto received = lookup.output(extras, [&](const Job& job) { run(job, threads, stream); });
        EXPECT_EQ(testing::difference(expected, received), "")
            << threads << " threads, stream " << stream << ", extras " << &extras - kAllExtras;
      }
    }
  }
}

class RowKernels : public testing::OnTarget {};

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

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, RowKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer::row_kernels
