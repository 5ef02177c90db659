#include "firstlayer/base/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace firstlayer {
namespace {

constexpr std::size_t kHalf = std::size_t{1} << 63;

template <class Action>
std::string invalid_message(Action action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(ShapeText, IsPythons) {
  EXPECT_EQ(shape_text(Shape<3>{8, 4, 256}), "(8, 4, 256)");
  EXPECT_EQ(shape_text(Shape<1>{8}), "(8,)");
  EXPECT_EQ(shape_text({}), "()");
}

TEST(ElementCount, IsTheProduct) {
  EXPECT_EQ(element_count(Shape<3>{8, 4, 256}), 8192U);
  EXPECT_EQ(element_count({}), 1U);
  EXPECT_EQ(element_count(Shape<2>{kHalf, 1}), kHalf);
}

TEST(ElementCount, AnEmptyAxisMakesNoneWhateverTheOthers) {
  EXPECT_EQ(element_count(Shape<3>{kHalf, 4, 0}), 0U);
  EXPECT_EQ(element_count(Shape<3>{0, kHalf, 4}), 0U);
}

TEST(ElementCount, AProductBeyond64BitsIsAnErrorThatNamesTheShape) {
  EXPECT_EQ(invalid_message([] {
              element_count(Shape<2>{kHalf, 2});
            }),
            "[element_count] expected a shape whose product fits 64 bits, received (9223372036854775808, 2)");
}

TEST(View, ReadsRowMajor) {
  std::array<int, 24> values;
  std::iota(values.begin(), values.end(), 0);
  View<int, 3> view(values, {2, 3, 4});
  EXPECT_EQ(view(1, 2, 3), 23);
  EXPECT_EQ(view(1, 0, 2), 14);
  EXPECT_EQ(view[1](2, 0), 20);
  EXPECT_EQ(view[1][2][1], 21);
  EXPECT_EQ(view.size(), 24U);
  EXPECT_EQ(view.flat().data(), values.data());
  EXPECT_EQ(view[1].shape(), (Shape<2>{3, 4}));
}

TEST(View, WritesThrough) {
  std::array<int, 6> values{};
  Matrix<int> view(values, {2, 3});
  view(1, 1) = 7;
  view[0][2] = 5;
  EXPECT_EQ(values, (std::array<int, 6>{0, 0, 5, 0, 7, 0}));
}

TEST(View, AShapeThatDoesNotFitTheDataIsRefused) {
  std::array<float, 32> values;
  EXPECT_EQ(invalid_message([&] {
              View<float, 3>(values, {8, 4, 256});
            }),
            "[View] expected 8192 values for shape (8, 4, 256), received 32");
  EXPECT_EQ(invalid_message([&] { View<float, 1>(values, {31}); }),
            "[View] expected 31 values for shape (31,), received 32");
}

TEST(View, AShapeWhoseProductWrapsToTheSizeIsRefused) {
  EXPECT_EQ(invalid_message([] {
              View<float, 2>({}, {kHalf, 2});
            }),
            "[element_count] expected a shape whose product fits 64 bits, received (9223372036854775808, 2)");
}

TEST(View, AWritableOneIsAReadableOneAndNotTheReverse) {
  static_assert(std::is_convertible_v<View<int, 2>, View<const int, 2>>);
  static_assert(!std::is_convertible_v<View<const int, 2>, View<int, 2>>);
  std::array<int, 2> values{1, 2};
  View<const int, 2> view = View<int, 2>(values, {1, 2});
  EXPECT_EQ(view(0, 1), 2);
}

TEST(View, AnAxisThatIsNotThereIsOutOfRange) {
  std::array<int, 2> values{};
  View<int, 2> view(values, {1, 2});
  EXPECT_EQ(view.dim(1), 2U);
  EXPECT_THROW(view.dim(2), std::out_of_range);
}

TEST(View, DefaultsToNothing) {
  View<int, 2> view;
  EXPECT_EQ(view.size(), 0U);
  EXPECT_TRUE(view.flat().empty());
}

TEST(Tensor, IsZeroedAndAligned) {
  Tensor<float, 2> tensor({3, 5});
  EXPECT_EQ(tensor.shape(), (Shape<2>{3, 5}));
  EXPECT_EQ(tensor.size(), 15U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.flat().data()) % 64, 0U);
  for (float value : tensor.flat()) EXPECT_EQ(value, 0.0F);
}

TEST(Tensor, PassesAsAView) {
  Tensor<float, 2> tensor({2, 2});
  Matrix<float> writable = tensor;
  writable(1, 0) = 3;
  const Tensor<float, 2>& same = tensor;
  Matrix<const float> readable = same;
  EXPECT_EQ(readable(1, 0), 3.0F);
}

TEST(Tensor, MovesItsMemoryAndIsNotCopied) {
  static_assert(!std::is_copy_constructible_v<Tensor<float, 2>>);
  static_assert(!std::is_copy_assignable_v<Tensor<float, 2>>);
  Tensor<float, 2> first({2, 3});
  first.view()(1, 2) = 9;
  const float* data = first.flat().data();
  Tensor<float, 2> second(std::move(first));
  EXPECT_EQ(second.flat().data(), data);
  EXPECT_EQ(second.view()(1, 2), 9.0F);
  Tensor<float, 2> third;
  third = std::move(second);
  EXPECT_EQ(third.flat().data(), data);
  EXPECT_EQ(third.shape(), (Shape<2>{2, 3}));
  EXPECT_EQ(first.size() + second.size(), 0U);  // what was moved from is empty, not a shape without memory
  EXPECT_TRUE(second.flat().empty());
}

TEST(Tensor, AnEmptyAxisIsLegal) {
  Tensor<float, 2> tensor({0, 768});
  EXPECT_EQ(tensor.size(), 0U);
  EXPECT_TRUE(tensor.flat().empty());
}

TEST(Tensor, AShapeWhoseBytesDoNotFit64BitsIsRefusedThoughItsElementsDo) {
  EXPECT_EQ(invalid_message([] { Tensor<float, 1>({std::size_t{1} << 62}); }),
            "[element_count] expected a shape whose product fits 64 bits, received (4611686018427387904, 4)");
}

TEST(Tensor, MoreThanTheMachineHasIsBadAlloc) {
  EXPECT_THROW((Tensor<float, 2>({std::size_t{1} << 40, std::size_t{1} << 20})), std::bad_alloc);
}

}  // namespace
}  // namespace firstlayer
