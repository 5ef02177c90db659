#include "firstlayer/train/network/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/every_target.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

TEST(Product, Reference) {
  const float a[] = {1, 2, 3, 4};
  std::vector<float> b(2 * kPanelRows);
  b[0] = 5;
  b[kPanelRows] = 6;
  std::vector<float> c(2 * kPanelRows, 100.0F);
  product_reference({Left::kRows, a, 2, 2, b.data(), c.data(), kPanelRows, false, 1}, 2);
  EXPECT_EQ(c[0], 1 * 5 + 2 * 6);
  EXPECT_EQ(c[kPanelRows], 3 * 5 + 4 * 6);
  product_reference({Left::kColumns, a, 2, 2, b.data(), c.data(), kPanelRows, true, 1}, 2);
  EXPECT_EQ(c[0], 17 + 1 * 5 + 3 * 6);
  EXPECT_EQ(c[kPanelRows], 39 + 2 * 5 + 4 * 6);
}

TEST(Strips, AreAboutAsLongAsEachOther) {
  for (const std::size_t rows : {1U, 11U, 12U, 13U, 24U, 25U, 768U, 769U}) {
    const Strips strips(rows);
    EXPECT_EQ(strips.count, (rows + kStripRows - 1) / kStripRows);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < strips.count; ++i) {
      EXPECT_EQ(strips.begin(i), sum);
      EXPECT_LE(strips.size(i), kStripRows);
      EXPECT_GE(strips.size(i) + 1, rows / strips.count);
      sum += strips.size(i);
    }
    EXPECT_EQ(sum, rows);
  }
}

class ProductKernel : public testing::OnTarget {};

TEST_P(ProductKernel, EqualsTheReferenceOnEveryShape) {
  Generator generator(3);
  for (const Left left : {Left::kRows, Left::kColumns, Left::kPanels}) {
    for (const std::size_t rows : {1U, 2U, 3U, 5U, 6U, 7U, 11U, 12U, 13U, 27U}) {
      for (const std::size_t steps : {32U, 1U, 3U, 48U, 96U}) {
        for (const std::size_t lanes : {32U, 16U, 5U}) {
          for (const bool add : {false, true}) {
            if (left == Left::kPanels && steps % kPanelRows != 0) continue;
            SCOPED_TRACE("left " + std::to_string(static_cast<int>(left)) + ", " + std::to_string(rows) + " rows, " +
                         std::to_string(steps) + " steps, " + std::to_string(lanes) + " lanes");
            const auto a = testing::random_numbers(rows * 100 + steps * 100, generator);
            const auto b = testing::random_numbers(steps * kPanelRows, generator);
            auto expected = testing::random_numbers(rows * 64, generator);
            Tensor<float, 1> received(expected.shape());
            std::ranges::copy(expected.flat(), received.flat().begin());
            const std::size_t stride = left == Left::kRows ? steps + 2 : left == Left::kColumns ? rows + 1 : rows * 32;
            Product job = {left, a.flat().data(), stride, steps, b.flat().data(), expected.flat().data(), 64, add,
                           lanes};
            product_reference(job, rows);
            job.c = received.flat().data();
            product(job, rows);
            for (std::size_t i = 0; i < rows; ++i) {
              for (std::size_t j = 0; j < lanes; ++j) {
                ASSERT_NEAR(expected.flat()[i * 64 + j], received.flat()[i * 64 + j], 3e-5) << i << ", " << j;
              }
              for (std::size_t j = kPanelRows; j < 64; ++j) {
                ASSERT_EQ(expected.flat()[i * 64 + j], received.flat()[i * 64 + j]) << "beside the result";
              }
            }
            if (add) continue;
            Tensor<float, 1> with_prefetcher(received.shape());
            std::ranges::copy(received.flat(), with_prefetcher.flat().begin());
            Prefetcher prefetcher({a.flat().data(), stride, 1, stride}, rows * lanes * steps);
            job.c = with_prefetcher.flat().data();
            job.meanwhile = &prefetcher;
            product(job, rows);
            ASSERT_EQ(testing::difference(received.flat(), with_prefetcher.flat()), "");
          }
        }
      }
    }
  }
}

TEST_P(ProductKernel, EqualsTheReferenceInTransposing) {
  Generator generator(4);
  for (const std::size_t rows : {1U, 3U, 4U, 9U, 32U}) {
    for (const std::size_t columns : {1U, 2U, 4U, 7U, 32U}) {
      const auto from = testing::random_numbers(rows * 40, generator);
      std::vector<float> expected(columns * 36, -1.0F);
      std::vector<float> received = expected;
      transpose_reference({from.flat().data(), 40, expected.data(), 36}, rows, columns);
      transpose({from.flat().data(), 40, received.data(), 36}, rows, columns);
      EXPECT_EQ(testing::difference(expected, received), "") << rows << " x " << columns;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, ProductKernel, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer
