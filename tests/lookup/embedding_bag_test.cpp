#include "firstlayer/lookup/embedding_bag.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding.h"
#include "tests/lookup/golden.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::GoldenCase;
using testing::message_of;

BagMode read_mode(GoldenCase& golden) {
  const std::string name = golden.word();
  return name == "sum" ? BagMode::kSum : name == "mean" ? BagMode::kMean : BagMode::kMax;
}

/// To the bit, but for what PyTorch adds in an order of its own: weighted sums where padding is left out, gradients of
/// sums and means, and gradients of the weights.
TEST(EmbeddingBag, DoesWhatTorchDoesInEveryMode) {
  constexpr Shape<2> kTable = {13, 6};
  constexpr std::size_t kIds = 60;
  constexpr std::size_t kBags = 6;
  const std::vector<TokenId> ids = testing::golden_ids(kIds, kTable[0]);
  for (GoldenCase& golden : testing::golden_cases("bag")) {
    SCOPED_TRACE(golden.name());
    BagOptions options{.mode = read_mode(golden)};
    if (const std::string padding = golden.word(); padding != "-") options.padding_idx = std::stoll(padding);
    const bool weighted = golden.flag();
    const bool with_last = golden.flag();
    std::vector<std::int64_t> offsets = {0, 0, 5, 6, 20, 41};
    if (with_last) offsets.push_back(kIds);
    const std::vector<float> out = golden.floats(kBags * kTable[1]);
    const std::vector<float> gradient = golden.floats(element_count(kTable));

    Generator generator(9);
    const Embedding embedding(kTable[0], kTable[1], generator, {.padding_idx = options.padding_idx});
    std::vector<float> weights(kIds);
    generator.fill_normal(weights);
    if (weighted) options.per_sample_weights = weights;
    Tensor<float, 2> dout({kBags, kTable[1]});
    generator.fill_normal(dout.flat());
    const Bags bags({ids, {1, kIds}}, offsets, with_last);

    for (unsigned threads : {1U, 3U}) {
      Tensor<float, 2> received({kBags, kTable[1]});
      lookup_bags(embedding.table(), bags, options, received, threads);
      if (weighted && options.padding_idx) {
        testing::expect_near(out, received.flat(), 1e-6);
      } else {
        EXPECT_EQ(difference(out, received.flat()), "");
      }
      Tensor<float, 2> dtable(kTable);
      add_rows(bag_gradient(embedding.table(), bags, options, dout, threads), dtable);
      if (options.mode == BagMode::kMax) {
        EXPECT_EQ(difference(gradient, dtable.flat()), "");
      } else {
        testing::expect_near(gradient, dtable.flat(), 1e-6);
      }
    }
    if (weighted) {
      std::vector<float> dweights(kIds);
      bag_weight_gradient(embedding.table(), bags, options, dout, dweights);
      testing::expect_near(golden.floats(kIds), dweights, 1e-6);
    }
  }
}

/// 4 rows of 2, and what a call makes of the bags {1, 2, 2} and {} and {0}.
class SmallBags : public ::testing::Test {
 protected:
  std::vector<float> lookup(const BagOptions& options) {
    Tensor<float, 2> out({3, 2});
    lookup_bags(kTable, bags_, options, out);
    return {out.flat().begin(), out.flat().end()};
  }

  const std::vector<float> values_ = {1, 2, 10, 20, 30, -40, 5, 5};
  const View<const float, 2> kTable{values_, {4, 2}};
  const std::vector<TokenId> ids_ = {1, 2, 2, 0};
  const std::vector<std::int64_t> offsets_ = {0, 3, 3};
  const Bags bags_{{ids_, {1, 4}}, offsets_};
};

TEST_F(SmallBags, AreSummedAveragedOrTheLargestIsTaken) {
  EXPECT_EQ(lookup({.mode = BagMode::kSum}), (std::vector<float>{70, -60, 0, 0, 1, 2}));
  EXPECT_EQ(lookup({.mode = BagMode::kMean}), (std::vector<float>{70.0F / 3, -20, 0, 0, 1, 2}));
  EXPECT_EQ(lookup({.mode = BagMode::kMax}), (std::vector<float>{30, 20, 0, 0, 1, 2}));
  const std::vector<float> weights = {2, 1, -1, 0.5F};
  EXPECT_EQ(lookup({.mode = BagMode::kSum, .per_sample_weights = weights}),
            (std::vector<float>{20, 40, 0, 0, 0.5F, 1}));
}

TEST_F(SmallBags, LeavePaddingOutAndOutOfTheCount) {
  EXPECT_EQ(lookup({.mode = BagMode::kMean, .padding_idx = 2}), (std::vector<float>{10, 20, 0, 0, 1, 2}));
  EXPECT_EQ(lookup({.mode = BagMode::kMax, .padding_idx = 2}), (std::vector<float>{10, 20, 0, 0, 1, 2}));
  EXPECT_EQ(lookup({.mode = BagMode::kMean, .padding_idx = -4}), (std::vector<float>{70.0F / 3, -20, 0, 0, 0, 0}))
      << "a bag of padding alone is empty";
}

TEST_F(SmallBags, GiveEmptyBagsZerosAndNoGradientThatIsNotANumber) {
  const std::vector<float> dout(6, 1.0F);
  for (BagMode mode : {BagMode::kSum, BagMode::kMean, BagMode::kMax}) {
    EXPECT_EQ(lookup({.mode = mode})[2], 0.0F);
    const RowGradient gradient = bag_gradient(kTable, bags_, {.mode = mode}, {dout, {3, 2}});
    for (float value : gradient.rows().flat()) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST_F(SmallBags, GiveTheGradientOfAMaximumToTheFirstOfEqualRows) {
  const std::vector<float> equal = {7, 7, 7, 7};
  const std::vector<TokenId> ids = {1, 0};
  const std::vector<float> dout = {1, 2};
  const RowGradient gradient =
      bag_gradient({equal, {2, 2}}, Bags({ids, {1, 2}}), {.mode = BagMode::kMax}, {dout, {1, 2}});
  EXPECT_EQ(difference(std::vector<float>{0, 0, 1, 2}, gradient.rows().flat()), "");
}

TEST_F(SmallBags, TakeEachRowOfABatchAsABagWithoutOffsets) {
  Tensor<float, 2> out({2, 2});
  lookup_bags(kTable, Bags({ids_, {2, 2}}), {.mode = BagMode::kSum}, out);
  EXPECT_EQ(difference(std::vector<float>{40, -20, 31, -38}, out.flat()), "");
}

TEST_F(SmallBags, MayBeNone) {
  Tensor<float, 2> out({0, 2});
  lookup_bags(kTable, Bags({{}, {1, 0}}, {}), {}, out);
  EXPECT_EQ(bag_gradient(kTable, Bags({{}, {1, 0}}, {}), {}, out).ids().size(), 0U);
}

TEST_F(SmallBags, RefuseOffsetsThatDoNotFit) {
  const auto refused = [&](const std::vector<std::int64_t>& offsets, bool with_last = false) {
    return message_of<std::invalid_argument>([&] { Bags({ids_, {1, 4}}, offsets, with_last); });
  };
  EXPECT_EQ(refused({1, 2}), "[Bags] expected offsets that begin with 0, received 1 at 0");
  EXPECT_EQ(refused({-1, 2}), "[Bags] expected offsets that begin with 0, received -1 at 0");
  EXPECT_EQ(refused({0, 3, 2}), "[Bags] expected offsets that do not go backwards, received 2 at 2 after 3");
  EXPECT_EQ(refused({0, INT64_MIN}),
            "[Bags] expected offsets that do not go backwards, received -9223372036854775808 at 1 after 0");
  EXPECT_EQ(refused({0, 5}), "[Bags] expected offsets of at most N = 4, the number of ids, received 5 at 1");
  EXPECT_EQ(refused({0, 3}, true), "[Bags] expected a last offset of N = 4, the number of ids, received 3 at 1");
  EXPECT_EQ(refused({}), "[Bags] expected offsets that begin with 0 for 4 ids, received none");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              Bags({ids_, {2, 2}}, offsets_);
            }),
            "[Bags] expected ids of shape (1, N) with offsets, received (2, 2)");
}

TEST_F(SmallBags, RefuseIdsWeightsAndShapesThatDoNotFit) {
  Tensor<float, 2> out({3, 2});
  const auto refused = [&](const Bags& bags, const BagOptions& options, View<float, 2> into) {
    return message_of<std::logic_error>([&] { lookup_bags(kTable, bags, options, into); });
  };
  const std::vector<std::int64_t> ids = {0, -1};
  const View<const std::int64_t, 2> negative(ids, {1, 2});
  EXPECT_EQ(refused(Bags(negative), {}, out), "[lookup_bags] expected ids below V = 4, received -1 at (b=0, t=1)");
  EXPECT_EQ(refused(bags_, {.padding_idx = 4}, out),
            "[lookup_bags] expected padding_idx from -V to V - 1 for V = 4, received 4");
  const std::vector<float> weights = {1, 2, 3};
  EXPECT_EQ(refused(bags_, {.mode = BagMode::kSum, .per_sample_weights = weights}, out),
            "[lookup_bags] expected a weight for each of 4 ids, received 3");
  const std::vector<float> four = {1, 2, 3, 4};
  EXPECT_EQ(refused(bags_, {.mode = BagMode::kMean, .per_sample_weights = four}, out),
            "[lookup_bags] expected per_sample_weights of sums alone, received mode mean");
  Tensor<float, 2> narrow({3, 1});
  EXPECT_EQ(refused(bags_, {}, narrow),
            "[lookup_bags] expected a vector of width d for each bag, (3, 2), received (3, 1)");
  std::vector<float> dweights(4);
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { bag_weight_gradient(kTable, bags_, {.mode = BagMode::kSum}, out, dweights); }),
            "[bag_weight_gradient] expected weights and gradients for each of 4 ids, received 0 and 4");
}

}  // namespace
}  // namespace firstlayer
