#include "firstlayer/train/generate/weight_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer {
namespace {

/// Random numbers as a matrix, in float32 and in bfloat16.
struct RandomMatrix {
  RandomMatrix(std::size_t row_count, std::size_t column_count, Generator& generator)
      : floats(row_count * column_count), halves(floats.size()), rows(row_count), columns(column_count) {
    generator.fill_normal(floats);
    std::ranges::transform(floats, halves.begin(), [](float x) { return BFloat16(x); });
  }

  WeightMatrix in(bool bf16) const {
    return {bf16 ? nullptr : floats.data(), bf16 ? halves.data() : nullptr, rows, columns};
  }

  std::vector<float> floats;
  std::vector<BFloat16> halves;
  std::size_t rows;
  std::size_t columns;
};

std::vector<float> random_vector(std::size_t size, Generator& generator) {
  std::vector<float> x(size);
  generator.fill_normal(x);
  return x;
}

TEST(WeightMatrix, Reference) {
  const std::vector<float> w = {1, 2, 3, 4, 5, 6};
  const WeightMatrix matrix = {w.data(), nullptr, 2, 3};
  const std::vector<float> x = {10, 100};
  std::vector<float> y = {0.5F, 0.5F, 0.5F};
  add_row_products_reference(matrix, x.data(), 1, 3, y.data());
  EXPECT_EQ(y, (std::vector<float>{0.5F, 520.5F, 630.5F}));
  const std::vector<float> z = {1, 0, -1};
  std::vector<float> out = {7, 7};
  row_dots_reference(matrix, z.data(), 1, 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{7, -2}));
}

TEST(WeightMatrix, CopiesABlock) {
  Generator generator(1);
  const RandomMatrix matrix(5, 7, generator);
  for (const bool bf16 : {false, true}) {
    std::vector<float> out(2 * 4, -1.0F);
    copy_block(matrix.in(bf16), {1, 2, 3, 3, out.data(), 4});
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const std::size_t at = (1 + i) * 7 + 3 + j;
        EXPECT_EQ(out[i * 4 + j], bf16 ? static_cast<float>(matrix.halves[at]) : matrix.floats[at]);
      }
      EXPECT_EQ(out[i * 4 + 3], -1.0F);
    }
  }
}

class WeightKernels : public testing::OnTarget {};

TEST_P(WeightKernels, EqualTheReferencesOnEveryShape) {
  Generator generator(2);
  for (const std::size_t rows : {1U, 3U, 4U, 9U, 64U}) {
    for (const std::size_t columns : {1U, 7U, 16U, 33U, 100U}) {
      for (const bool bf16 : {false, true}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + (bf16 ? ", bf16" : ""));
        const RandomMatrix random(rows, columns, generator);
        const WeightMatrix matrix = random.in(bf16);
        const std::vector<float> x = random_vector(rows, generator);
        std::vector<float> expected = random_vector(columns, generator);
        std::vector<float> received = expected;
        add_row_products_reference(matrix, x.data(), columns / 3, columns, expected.data());
        add_row_products(matrix, x.data(), columns / 3, columns, received.data());
        for (std::size_t n = 0; n < columns; ++n) ASSERT_NEAR(received[n], expected[n], 2e-5) << n;

        const std::vector<float> z = random_vector(columns, generator);
        std::vector<float> out(rows, -1.0F);
        std::vector<float> right = out;
        row_dots_reference(matrix, z.data(), rows / 2, rows, right.data());
        row_dots(matrix, z.data(), rows / 2, rows, out.data());
        for (std::size_t i = 0; i < rows; ++i) ASSERT_NEAR(out[i], right[i], 2e-5) << i;
      }
    }
  }
}

TEST_P(WeightKernels, BitsDoNotDependOnWhereColumnsAreCut) {
  Generator generator(3);
  const RandomMatrix matrix(50, 101, generator);
  const std::vector<float> x = random_vector(50, generator);
  std::vector<float> whole(101), cut(101);
  add_row_products(matrix.in(true), x.data(), 0, 101, whole.data());
  for (std::size_t begin = 0; begin < 101; begin += 13) {
    add_row_products(matrix.in(true), x.data(), begin, std::min<std::size_t>(101, begin + 13), cut.data());
  }
  EXPECT_EQ(testing::difference(whole, cut), "");
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, WeightKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
