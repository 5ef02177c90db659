#include "firstlayer/lookup/stored_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer::stored_kernels {
namespace {

void set_pattern(BFloat16& value, std::uint32_t word) { value.bits = static_cast<std::uint16_t>(word); }
void set_pattern(Float16& value, std::uint32_t word) { value.bits = static_cast<std::uint16_t>(word); }
void set_pattern(std::int8_t& value, std::uint32_t word) { value = static_cast<std::int8_t>(word); }

template <class Value>
struct Lookup {
  Tensor<Value, 2> table;
  std::vector<float> scales;  ///< empty for none
  Tensor<TokenId, 2> ids;
};

/// Both ways into memory that starts `offset` floats after an aligned address; nothing beside it is written.
template <class Value>
void expect_equal_to_reference(const Lookup<Value>& lookup, std::size_t offset) {
  const Shape<3> shape = {lookup.ids.dim(0), lookup.ids.dim(1), lookup.table.dim(1)};
  SCOPED_TRACE(shape_text(shape) + " at " + std::to_string(offset));
  const auto output = [&](auto run_job) {
    Tensor<float, 1> memory({offset + element_count(shape) + 16});
    std::ranges::fill(memory.flat(), -77.0F);
    run_job(Job<Value>{lookup.table,
                       lookup.scales.empty() ? nullptr : lookup.scales.data(),
                       lookup.ids,
                       {memory.flat().subspan(offset, element_count(shape)), shape}});
    return std::vector<float>(memory.flat().begin(), memory.flat().end());
  };
  const std::vector<float> expected = output(run_reference<Value>);
  for (bool stream : {false, true}) {
    for (unsigned threads : {1U, 3U}) {
      const auto received = output([&](const Job<Value>& job) { run(job, threads, stream); });
      EXPECT_EQ(testing::difference(expected, received), "") << threads << " threads, stream " << stream;
    }
  }
}

template <class Value>
void expect_equal_on_random_shapes() {
  Generator generator(12);
  std::vector<Shape<3>> shapes = {{1, 1, 1}, {1, 3, 1}, {2, 0, 5}, {2, 300, 768}, {1, 5, 5000}};
  for (int round = 0; round < 30; ++round) {
    shapes.push_back({1 + generator.next_u32() % 4, 1 + generator.next_u32() % 40, 1 + generator.next_u32() % 300});
  }
  for (const Shape<3>& shape : shapes) {
    Lookup<Value> lookup{Tensor<Value, 2>({31, shape[2]}), {}, Tensor<TokenId, 2>({shape[0], shape[1]})};
    for (Value& value : lookup.table.flat()) set_pattern(value, generator.next_u32());
    for (TokenId& id : lookup.ids.flat()) id = generator.next_u32() % 31;
    if constexpr (sizeof(Value) == 1) {
      lookup.scales.resize(31);
      generator.fill_uniform(lookup.scales);
    }
    expect_equal_to_reference(lookup, generator.next_u32() % 16);
  }
}

/// A table of every pattern there is.
template <class Value>
void expect_equal_on_every_pattern() {
  Lookup<Value> lookup{Tensor<Value, 2>({256, sizeof(Value) == 1 ? 1 : 256}), {}, Tensor<TokenId, 2>({16, 16})};
  for (std::size_t i = 0; i < lookup.table.size(); ++i) {
    set_pattern(lookup.table.flat()[i], static_cast<std::uint32_t>(i));
  }
  for (std::size_t i = 0; i < 256; ++i) lookup.ids.flat()[i] = static_cast<TokenId>(i);
  if constexpr (sizeof(Value) == 1) lookup.scales.assign(256, 0.1F);
  expect_equal_to_reference(lookup, 0);
}

class StoredKernels : public testing::OnTarget {};

TEST_P(StoredKernels, EqualTheReferenceOnRandomShapes) {
  expect_equal_on_random_shapes<BFloat16>();
  expect_equal_on_random_shapes<Float16>();
  expect_equal_on_random_shapes<std::int8_t>();
}

TEST_P(StoredKernels, EqualTheReferenceOnEveryPattern) {
  expect_equal_on_every_pattern<BFloat16>();
  expect_equal_on_every_pattern<Float16>();
  expect_equal_on_every_pattern<std::int8_t>();
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, StoredKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer::stored_kernels
