#include "firstlayer/train/network/head_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firstlayer/train/network/packed_features.h"
#include "tests/same_bits.h"
#include "tests/train/network/random_panels.h"

namespace firstlayer {
namespace {

constexpr unsigned kMostThreads = 4;

/// A head over random rows, of which every seventh has no target.
struct Head {
  /// shape is (rows, d, V).
  Head(const Shape<3>& shape, Generator& generator)
      : rows(shape[0]),
        d(shape[1]),
        vocabulary(shape[2]),
        x(rows, d, generator),
        weight(testing::random_numbers(vocabulary * d, generator)),
        dx(rows, d),
        targets(x.view().rows(), kNoTarget),
        log_sums(targets.size()),
        target_logits(targets.size()),
        factors(targets.size()),
        order(targets.size()),
        exponentials({head_exponentials(vocabulary, targets.size())}),
        scratch({kMostThreads * head_scratch(targets.size())}),
        packed({packed_size(targets.size(), d)}) {
    for (std::size_t r = 0; r < rows; ++r) {
      if (r % 7 != 3) targets[r] = generator.next_u32() % vocabulary;
    }
  }

  HeadLoss forward(bool gradient, bool keep, unsigned threads) {
    return {x,
            weight.flat().data(),
            vocabulary,
            targets,
            0.125F,
            log_sums.data(),
            target_logits.data(),
            gradient ? dx.view() : Panels{},
            factors.data(),
            keep ? exponentials.flat().data() : nullptr,
            scratch.flat().data(),
            threads};
  }
  HeadWeightGradient backward(bool keep, const RowGradient* more, testing::KeepingSink& sink, unsigned threads) {
    return {forward(true, keep, threads), packed.flat().data(), order, more, 9, &sink};
  }

  /// The scaled loss.
  double loss() const {
    double sum = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      if (targets[r] == kNoTarget) continue;
      sum += static_cast<double>(log_sums[r]) - static_cast<double>(target_logits[r]);
    }
    return sum * 0.125;
  }

  std::size_t rows, d, vocabulary;
  testing::OwnedPanels x;
  Tensor<float, 1> weight;
  testing::OwnedPanels dx;
  std::vector<std::int64_t> targets;
  std::vector<float> log_sums, target_logits, factors;
  std::vector<std::uint32_t> order;
  Tensor<float, 1> exponentials, scratch, packed;
};

std::vector<float> copy_of(std::span<const float> numbers) { return {numbers.begin(), numbers.end()}; }

TEST(HeadLoss, IsTheCrossEntropyOfARow) {
  Generator generator(1);
  for (const auto& compute : {head_loss, head_loss_reference}) {
    Head head({1, 1, 3}, generator);
    const float weight[] = {1, 2, 3};
    head.x.view()(0, 0) = 1;
    head.targets[0] = 1;
    HeadLoss job = head.forward(true, true, 1);
    job.weight = weight;
    compute(job);
    const double sum = std::exp(1) + std::exp(2) + std::exp(3);
    EXPECT_NEAR(head.log_sums[0], std::log(sum), 1e-6);
    EXPECT_EQ(head.target_logits[0], 2);
    const double mean = (std::exp(1) + 2 * std::exp(2) + 3 * std::exp(3)) / sum;
    EXPECT_NEAR(head.dx.view()(0, 0), (mean - 2) * 0.125, 1e-6);
    EXPECT_EQ(head.dx.view()(1, 0), 0) << "a row without a target";
  }
}

TEST(HeadLoss, EqualsTheReferenceOnRandomShapes) {
  Generator generator(2);
  const Shape<3> shapes[] = {{1, 1, 1}, {5, 3, 11}, {40, 16, 12}, {33, 48, 400}, {64, 20, 205}, {7, 300, 101}};
  for (const auto& [rows, d, vocabulary] : shapes) {
    SCOPED_TRACE(shape_text(Shape<3>{rows, d, vocabulary}));
    Head head({rows, d, vocabulary}, generator);
    head_loss_reference(head.forward(true, false, 1));
    const std::vector<float> dx = copy_of(head.dx.flat());
    const std::vector<float> log_sums = head.log_sums;
    const std::vector<float> target_logits = head.target_logits;
    const TokenId ids[] = {0, static_cast<TokenId>(vocabulary - 1)};
    RowGradient more;
    more.assign(std::span(ids).last(vocabulary > 1 ? 2 : 1), d);
    for (float& each : more.rows().flat()) each = 0.5F;
    testing::KeepingSink expected;
    head_weight_gradient_reference(head.backward(false, &more, expected, 1));

    for (const bool keep : {true, false}) {
      head_loss(head.forward(false, keep, 3));
      EXPECT_LT(testing::distance(log_sums, head.log_sums), 1e-6);
      std::ranges::fill(head.dx.flat(), NAN);
      head_loss(head.forward(true, keep, kMostThreads));
      EXPECT_LT(testing::distance(log_sums, head.log_sums), 1e-6);
      EXPECT_LT(testing::distance(target_logits, head.target_logits), 1e-6);
      testing::KeepingSink received;
      head_weight_gradient(head.backward(keep, &more, received, kMostThreads));
      EXPECT_LT(testing::distance(expected[9], received[9]), 3e-6);
      if (vocabulary > 1) {
        EXPECT_LT(testing::distance(dx, head.dx.flat()), 3e-6);
      }
    }
  }
}

TEST(HeadLoss, TakesMoreOffWhenALaterLogitIsFarLarger) {
  Generator generator(3);
  Head head({9, 4, 500}, generator);
  for (std::size_t v = 300; v < 500; ++v) {
    for (std::size_t f = 0; f < 4; ++f) head.weight.flat()[v * 4 + f] *= 60;  // logits of hundreds, in the second tile
  }
  head_loss_reference(head.forward(true, false, 1));
  ASSERT_GT(*std::ranges::max_element(head.log_sums), 100);
  const std::vector<float> dx = copy_of(head.dx.flat());
  const std::vector<float> log_sums = head.log_sums;
  testing::KeepingSink expected;
  head_weight_gradient_reference(head.backward(false, nullptr, expected, 1));
  for (const bool keep : {true, false}) {
    head_loss(head.forward(true, keep, 2));
    testing::KeepingSink received;
    head_weight_gradient(head.backward(keep, nullptr, received, 2));
    EXPECT_LT(testing::distance(log_sums, head.log_sums), 1e-6);
    EXPECT_LT(testing::distance(dx, head.dx.flat()), 1e-4);  // a logit of 300 is known to 2e-5
    EXPECT_LT(testing::distance(expected[9], received[9]), 1e-4);
  }
}

TEST(HeadLoss, HasTheSameBitsOnAnyNumberOfThreads) {
  Generator generator(4);
  for (const bool keep : {true, false}) {
    Head head({100, 24, 300}, generator);
    std::vector<float> first;
    for (const unsigned threads : {1U, 2U, 3U, 4U}) {
      head_loss(head.forward(true, keep, threads));
      testing::KeepingSink sink;
      head_weight_gradient(head.backward(keep, nullptr, sink, threads));
      std::vector<float> all = head.log_sums;
      all.insert(all.end(), head.dx.flat().begin(), head.dx.flat().end());
      all.insert(all.end(), sink[9].begin(), sink[9].end());
      if (first.empty()) first = all;
      EXPECT_EQ(testing::difference(first, all), "") << threads << " threads";
    }
  }
}

TEST(HeadLoss, GradientsAreFiniteDifferences) {
  Generator generator(5);
  Head head({5, 4, 9}, generator);
  const auto loss = [&] {
    head_loss_reference(head.forward(false, false, 1));
    return head.loss();
  };
  head_loss_reference(head.forward(true, false, 1));
  testing::KeepingSink sink;
  head_weight_gradient_reference(head.backward(false, nullptr, sink, 1));
  testing::expect_finite_differences(head.x.flat(), head.dx.flat(), loss);
  testing::expect_finite_differences(head.weight.flat(), sink[9], loss);
}

TEST(HeadLogits, AreRowsTimesTheTable) {
  Generator generator(6);
  Head head({37, 20, 211}, generator);
  std::vector<float> expected(37 * 211);
  std::vector<float> received(expected.size());
  head_logits_reference({head.x, head.weight.flat().data(), 211, 37, expected.data(), 1});
  head_logits({head.x, head.weight.flat().data(), 211, 37, received.data(), 3});
  EXPECT_LT(testing::distance(expected, received), 1e-6);
  double first = 0;
  for (std::size_t f = 0; f < 20; ++f) first += head.x.view()(36, f) * head.weight.flat()[210 * 20 + f];
  EXPECT_NEAR(received.back(), first, 1e-4);
}

}  // namespace
}  // namespace firstlayer
