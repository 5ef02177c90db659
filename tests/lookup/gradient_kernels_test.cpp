#include "firstlayer/lookup/gradient_kernels.h"

#include <gtest/gtest.h>

#include <vector>

#include "firstlayer/base/half.h"
#include "firstlayer/base/random.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer::gradient_kernels {
namespace {

using testing::difference;

class GradientKernels : public testing::OnTarget {};

Tensor<TokenId, 2> random_ids(const Shape<3>& shape, std::uint32_t vocabulary, Generator& generator) {
  Tensor<TokenId, 2> ids({shape[0], shape[1]});
  for (TokenId& id : ids.flat()) id = generator.next_u32() % vocabulary;
  return ids;
}

template <class Element>
void expect_sums_equal(const RowGroups& groups, const Tensor<Element, 3>& dout) {
  SCOPED_TRACE(shape_text(dout.shape()) + " of " + std::to_string(groups.size()) + " ids");
  const std::size_t dim = dout.dim(2);
  std::vector<float> expected(groups.size() * dim);
  sum_groups_reference(groups, dout.flat().data(), dim, expected.data());
  for (unsigned threads : {1U, 3U}) {
    std::vector<float> received(expected.size(), -77.0F);
    sum_groups(groups, dout.flat().data(), dim, received.data(), threads);
    EXPECT_EQ(difference(expected, received), "") << threads << " threads";
  }
}

void expect_groups_equal(const Shape<3>& shape, std::uint32_t vocabulary, Generator& generator) {
  const RowGroups groups(random_ids(shape, vocabulary, generator), vocabulary);
  Tensor<float, 3> dout(shape);
  generator.fill_normal(dout.flat());
  if (dout.size() > 0) dout.flat()[0] = -0.0F;
  expect_sums_equal(groups, dout);
}

TEST_P(GradientKernels, EqualTheReferenceForGroups) {
  Generator generator(1);
  for (const Shape<3>& shape :
       std::vector<Shape<3>>{{1, 1, 1}, {1, 1, 768}, {2, 300, 256}, {3, 7, 17}, {4, 9, 1000}, {0, 4, 8}, {1, 200, 5}}) {
    for (std::uint32_t vocabulary : {1U, 2U, 50U, 5000U}) expect_groups_equal(shape, vocabulary, generator);
  }
  for (int round = 0; round < 40; ++round) {
    expect_groups_equal({1 + generator.next_u32() % 4, 1 + generator.next_u32() % 60, 1 + generator.next_u32() % 700},
                        1 + generator.next_u32() % 100, generator);
  }
}

template <class Element>
void expect_halves_equal(const Shape<3>& shape, Generator& generator) {
  constexpr std::uint32_t kVocabulary = 9;
  const RowGroups groups(random_ids(shape, kVocabulary, generator), kVocabulary);
  Tensor<Element, 3> dout(shape);
  for (Element& value : dout.flat()) {
    const std::uint32_t bits = generator.next_u32();
    value.bits = static_cast<std::uint16_t>((bits & 0x7c00U) == 0x7c00U ? bits & 0x83ffU : bits);  // finite
  }
  expect_sums_equal(groups, dout);
}

TEST_P(GradientKernels, EqualTheReferenceForNumbersOf16Bits) {
  Generator generator(3);
  for (const Shape<3>& shape : std::vector<Shape<3>>{{1, 1, 1}, {2, 9, 7}, {2, 40, 768}, {3, 5, 300}}) {
    expect_halves_equal<BFloat16>(shape, generator);
    expect_halves_equal<Float16>(shape, generator);
  }
}

TEST_P(GradientKernels, EqualTheReferenceForTheBatch) {
  Generator generator(2);
  for (std::size_t batch : {0, 1, 2, 8, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 300, 4096, 5000}) {
    for (std::size_t columns : {1, 3, 16, 31, 32, 33, 129, 768, 2100}) {
      if (batch > 300 && columns > 33) continue;
      Tensor<float, 2> dout({batch, columns});
      generator.fill_normal(dout.flat());
      std::vector<float> expected(columns);
      sum_batch_reference(dout.flat().data(), batch, columns, expected.data());
      for (unsigned threads : {1U, 3U}) {
        std::vector<float> received(expected.size(), -77.0F);
        sum_batch(dout.flat().data(), batch, columns, received.data(), threads);
        EXPECT_EQ(difference(expected, received), "") << "B = " << batch << ", columns = " << columns;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, GradientKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer::gradient_kernels
