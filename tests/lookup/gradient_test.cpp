#include "firstlayer/lookup/gradient.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/one_hot.h"
#include "tests/sha256.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

/// V = 97, d = 33, B = 8, T = 64; 49 of the ids occur, most of them often.
class LookupGradient : public ::testing::Test {
 protected:
  LookupGradient() {
    Generator generator(5);
    generator.fill_normal(dout_.flat());
    for (std::size_t i = 0; i < ids_.size(); ++i) ids_.flat()[i] = static_cast<TokenId>((i * i * 31 + 7) % kTable[0]);
  }

  static constexpr Shape<2> kTable = {97, 33};
  Tensor<TokenId, 2> ids_{{8, 64}};
  Tensor<float, 3> dout_{{8, 64, 33}};
};

/// The gradient as the whole table (V, d), as torch.nn.Embedding keeps it.
Tensor<float, 2> dense(const RowGradient& gradient, const Shape<2>& table) {
  Tensor<float, 2> all(table);
  for (std::size_t u = 0; u < gradient.ids().size(); ++u) {
    std::ranges::copy(gradient.rows()[u], all.view()[gradient.ids()[u]].begin());
  }
  return all;
}

RowGradient one_row(TokenId id, const std::vector<float>& row) {
  RowGradient gradient;
  gradient.assign({&id, 1}, row.size());
  std::ranges::copy(row, gradient.rows().data());
  return gradient;
}

std::string hash(const Tensor<float, 2>& tensor) { return testing::sha256_hex(std::as_bytes(tensor.flat())); }

// `tools/make_torch_golden.py gradient` prints the hashes of weight.grad.
TEST_F(LookupGradient, HasTheBitsOfTorchsDenseGradient) {
  RowGradient gradient = lookup_gradient(kTable, ids_, dout_);
  EXPECT_EQ(gradient.ids().size(), 49U);
  EXPECT_EQ(hash(dense(gradient, kTable)), "ac1169a6d030adc0319c9a1ae0ce88d4f79784e7ac0d451ec1d070f2dcc7a1af");
}

// B beyond 16 is summed in blocks, and beyond 256 in blocks of blocks.
TEST(PositionGradient, HasTheBitsOfTorchsSumOverTheBatch) {
  const std::vector<std::pair<std::size_t, std::string>> hashes = {
      {1, "fd9cc379352871cc47aaa84bb4295e737213bf95ccd5be974a6f791d25941d6e"},
      {8, "26d807ac2e4844f193a60f7071d60c09151eaccbb6071ff2ea66d9da3d3f05cb"},
      {40, "6f3aff7015b33e78e106703ae966542bb91aa141ffcfa06096b8882581c4897d"},
      {600, "764a00e82e3ead0ccf234aae358effb079f60f98679f33da484b5753470c72a8"},
  };
  for (const auto& [batch, expected] : hashes) {
    Generator generator(5);
    Tensor<float, 3> dout({batch, 7, 33});
    generator.fill_normal(dout.flat());
    for (unsigned threads : {1U, 2U, 3U}) {
      Tensor<float, 2> dpositions({7, 33});
      position_gradient(dout, dpositions, threads);
      EXPECT_EQ(hash(dpositions), expected) << "B = " << batch;
    }
  }
}

TEST(PositionGradient, RefusesAnotherShape) {
  const Tensor<float, 3> dout({2, 7, 3});
  Tensor<float, 2> dpositions({3, 7});
  EXPECT_EQ(testing::message_of<std::invalid_argument>([&] { position_gradient(dout, dpositions); }),
            "[position_gradient] expected dpositions of shape (T, d) = (7, 3), received (3, 7)");
}

TEST(AddRows, MakesTheDenseGradient) {
  Tensor<float, 2> dtable({3, 2});
  dtable.flat()[2] = 1.0F;
  add_rows(one_row(1, {2.0F, -4.0F}), dtable);
  EXPECT_EQ(std::vector<float>(dtable.flat().begin(), dtable.flat().end()), (std::vector<float>{0, 0, 3, -4, 0, 0}));
}

TEST(RowGradient, RefusesIdsThatAreNotAscending) {
  const std::vector<TokenId> ids = {4, 4};
  RowGradient gradient;
  EXPECT_EQ(testing::message_of<std::invalid_argument>([&] { gradient.assign(ids, 2); }),
            "[RowGradient] expected different ids in ascending order, received 4 before 4");
}

TEST_F(LookupGradient, EqualsTheTransposedOneHotMatrixTimesDout) {
  Tensor<float, 2> product(kTable);
  one_hot_gradient(ids_, dout_, product);
  EXPECT_EQ(hash(dense(lookup_gradient(kTable, ids_, dout_), kTable)), hash(product));
}

TEST_F(LookupGradient, AStepMovesTheRowsThatWereUsedAndNoOther) {
  Generator generator(123);
  Tensor<float, 2> table = random_table(kTable[0], kTable[1], generator);
  Generator again(123);
  const Tensor<float, 2> before = random_table(kTable[0], kTable[1], again);
  descend(table, lookup_gradient(kTable, ids_, dout_), 0.1F);

  const std::set<TokenId> used(ids_.flat().begin(), ids_.flat().end());
  for (std::size_t i = 0; i < kTable[0]; ++i) {
    const bool moved = !std::ranges::equal(table.view()[i], before.view()[i]);
    EXPECT_EQ(moved, used.contains(static_cast<TokenId>(i))) << "row " << i;
  }
}

TEST_F(LookupGradient, AStepSubtractsRateTimesGradient) {
  Tensor<float, 2> table({2, 2});
  for (std::size_t i = 0; i < 4; ++i) table.flat()[i] = 1.0F;
  const RowGradient gradient = one_row(1, {2.0F, -4.0F});
  descend(table, gradient, 0.5F);
  EXPECT_EQ(std::vector<float>(table.flat().begin(), table.flat().end()), (std::vector<float>{1.0F, 1.0F, 0.0F, 3.0F}));
}

// PyTorch's own bfloat16 gradient rounds at every addition and stops at 256.
TEST_F(LookupGradient, OfAThousandOnesIsAThousandAlsoInBfloat16) {
  const Tensor<TokenId, 2> zeros({10, 100});
  Tensor<BFloat16, 3> ones({10, 100, 3});
  for (BFloat16& one : ones.flat()) one = BFloat16(1.0F);
  RowGradient gradient;
  lookup_gradient(RowGroups(zeros, 5), ones, gradient);
  EXPECT_EQ(std::vector<float>(gradient.rows().flat().begin(), gradient.rows().flat().end()),
            (std::vector<float>{1000.0F, 1000.0F, 1000.0F}));
}

TEST_F(LookupGradient, OfNoIdsHasNoRows) {
  Tensor<TokenId, 2> none({0, 4});
  Tensor<float, 3> dout({0, 4, 33});
  EXPECT_TRUE(lookup_gradient(kTable, none, dout).ids().empty());
}

TEST_F(LookupGradient, RefusesWhatDoesNotFit) {
  Tensor<float, 3> narrow({8, 64, 32});
  EXPECT_EQ(testing::message_of<std::invalid_argument>([&] { lookup_gradient(kTable, ids_, narrow); }),
            "[lookup_gradient] expected dout of shape (B, T, d) = (8, 64, 33), received (8, 64, 32)");
  ids_.view()(2, 3) = 97;
  EXPECT_EQ(testing::message_of<std::out_of_range>([&] { lookup_gradient(kTable, ids_, dout_); }),
            "[lookup_gradient] expected ids below V = 97, received 97 at (b=2, t=3)");
  Tensor<float, 2> table({97, 32});
  RowGradient gradient = one_row(97, std::vector<float>(33));
  EXPECT_EQ(testing::message_of<std::invalid_argument>([&] { descend(table, gradient, 1.0F); }),
            "[descend] expected a gradient of width 32 for a table (97, 32), received (1, 33)");
  gradient = one_row(97, std::vector<float>(32));
  EXPECT_EQ(testing::message_of<std::out_of_range>([&] { descend(table, gradient, 1.0F); }),
            "[descend] expected ids below V = 97, received 97");
}

}  // namespace
}  // namespace firstlayer
