#include "firstlayer/lookup/embedding.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/lookup/embedding_table.h"
#include "tests/lookup/golden.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::golden_ids;
using testing::GoldenCase;
using testing::message_of;

/// The gradient as the whole table, as torch.nn.Embedding keeps it.
Tensor<float, 2> dense(const RowGradient& gradient, const Shape<2>& table) {
  Tensor<float, 2> all(table);
  add_rows(gradient, all);
  return all;
}

Tensor<float, 2> table_of(const Shape<2>& shape, const std::vector<float>& values) {
  Tensor<float, 2> table(shape);
  std::ranges::copy(values, table.flat().begin());
  return table;
}

EmbeddingOptions read_options(GoldenCase& golden) {
  EmbeddingOptions options;
  if (const std::string padding = golden.word(); padding != "-") options.padding_idx = std::stoll(padding);
  if (const std::string max_norm = golden.word(); max_norm != "-") options.max_norm = std::stod(max_norm);
  options.norm_type = golden.number();
  options.scale_grad_by_freq = golden.flag();
  return options;
}

/// All combinations of options, to the bit but for norms with another p than 1, 2 and infinity.
TEST(Embedding, DoesWhatTorchDoesUnderEveryOption) {
  constexpr Shape<2> kTable = {11, 6};
  const std::vector<TokenId> ids = golden_ids(27, kTable[0]);
  const IdView batch({ids, {3, 9}});
  for (GoldenCase& golden : testing::golden_cases("embedding")) {
    SCOPED_TRACE(golden.name());
    const EmbeddingOptions options = read_options(golden);
    const std::vector<float> table = golden.floats(66);
    const std::vector<float> gradient = golden.floats(66);
    for (unsigned threads : {1U, 3U}) {
      Generator generator(21);
      Embedding embedding(kTable[0], kTable[1], generator, options);
      Tensor<float, 3> dout({3, 9, 6});
      generator.fill_normal(dout.flat());

      const Tensor<float, 3> out = embedding.forward(batch, threads);
      if (options.max_norm && options.norm_type == 3.0) {
        testing::expect_near(table, embedding.table().flat(), 4e-7);
      } else {
        EXPECT_EQ(difference(table, embedding.table().flat()), "");
      }
      Tensor<float, 3> rows({3, 9, 6});
      lookup_rows(embedding.table(), batch, rows);
      EXPECT_EQ(difference(rows.flat(), out.flat()), "") << "the output is what the renormed table holds";
      EXPECT_EQ(difference(gradient, dense(embedding.gradient(batch, dout, threads), kTable).flat()), "");
    }
  }
}

TEST(Embedding, HasTheBitsOfTorchsLargeGradients) {
  constexpr Shape<2> kTable = {97, 133};
  const std::vector<TokenId> ids = golden_ids(8 * 64, kTable[0]);
  for (GoldenCase& golden : testing::golden_cases("large-gradient")) {
    SCOPED_TRACE(golden.name());
    const EmbeddingOptions options{.padding_idx = 38, .scale_grad_by_freq = golden.flag()};
    Generator generator(5);
    const Embedding embedding(kTable[0], kTable[1], generator, options);
    Tensor<float, 3> dout({8, 64, 133});
    generator.fill_normal(dout.flat());
    const std::string expected = golden.word();
    for (unsigned threads : {1U, 3U}) {
      EXPECT_EQ(testing::sha256_of(dense(embedding.gradient({ids, {8, 64}}, dout, threads), kTable).flat()), expected);
    }
  }
}

/// Rows of every width up to 40, and wide ones, whose ends PyTorch sums in other ways than their beginnings.
TEST(Embedding, HasTheBitsOfTorchsRenormedRowsOfEveryWidth) {
  for (GoldenCase& golden : testing::golden_cases("renorm")) {
    SCOPED_TRACE(golden.name());
    const auto dim = static_cast<std::size_t>(golden.number());
    Generator generator(dim);
    Embedding embedding(20, dim, generator, {.max_norm = 0.5});
    const std::vector<TokenId> ids = golden_ids(60, 20);
    embedding.forward({ids, {2, 30}});
    EXPECT_EQ(testing::sha256_of(embedding.table().flat()), golden.word());
  }
}

TEST(Embedding, ZeroesThePaddingRowOfANewTableAlone) {
  Generator generator(1);
  Embedding embedding(4, 3, generator, {.padding_idx = -1}, 0.02);
  EXPECT_EQ(embedding.padding_id(), 3U);
  EXPECT_EQ(difference(std::vector<float>(3), embedding.table().view()[3]), "") << "with a deviation of one's own too";
  embedding.mutable_table()[3][1] = 5.0F;
  const std::vector<TokenId> ids = {3};
  EXPECT_EQ(embedding.forward({ids, {1, 1}}).flat()[1], 5.0F) << "what an application writes there stays";
  EXPECT_EQ(embedding.table().view()(3, 1), 5.0F);
}

TEST(Embedding, LeavesThePaddingRowOfAGivenTableAsItIs) {
  const Embedding embedding = Embedding::from_pretrained(table_of({2, 2}, {1, 2, 3, 4}), {.padding_idx = 0});
  EXPECT_EQ(difference(std::vector<float>{1, 2, 3, 4}, embedding.table().flat()), "");
}

TEST(Embedding, GivesNoGradientToThePaddingRowInTheSparseFormEither) {
  const Embedding embedding = Embedding::from_pretrained(table_of({3, 1}, {1, 2, 3}), {.padding_idx = 1}, false);
  const std::vector<TokenId> ids = {0, 1, 1, 2, 0};
  const std::vector<float> dout = {1, 2, 4, 8, 16};
  const RowGradient gradient = embedding.gradient({ids, {1, 5}}, {dout, {1, 5, 1}});
  EXPECT_EQ(std::vector<TokenId>(gradient.ids().begin(), gradient.ids().end()), (std::vector<TokenId>{0, 2}));
  EXPECT_EQ(difference(std::vector<float>{17, 8}, gradient.rows().flat()), "");
  const std::vector<TokenId> only_padding = {1, 1};
  EXPECT_TRUE(embedding.gradient({only_padding, {1, 2}}, {std::span(dout).first(2), {1, 2, 1}}).ids().empty());
}

TEST(Embedding, IsFrozenFromAGivenTableUnlessToldOtherwise) {
  Embedding embedding = Embedding::from_pretrained(table_of({2, 1}, {1, 2}));
  EXPECT_FALSE(embedding.requires_grad());
  const std::vector<TokenId> ids = {0};
  const std::vector<float> dout = {1};
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] {
        embedding.gradient({ids, {1, 1}}, {dout, {1, 1, 1}});
      }),
      "[Embedding::gradient] expected a table that learns, received a frozen one; set_requires_grad(true) lets it "
      "learn");
  embedding.set_requires_grad(true);
  EXPECT_EQ(embedding.gradient({ids, {1, 1}}, {dout, {1, 1, 1}}).rows()(0, 0), 1.0F);
}

TEST(Embedding, RenormsEachUsedRowOnceAndNoOther) {
  Embedding embedding =
      Embedding::from_pretrained(table_of({4, 2}, {3, 4, 30, 40, 0.3F, 0.4F, 6, 8}), {.max_norm = 1.0});
  const std::vector<TokenId> ids = {0, 0, 2, 0};
  const Tensor<float, 3> out = embedding.forward({ids, {2, 2}});
  const auto scale = static_cast<float>(1.0 / (5.0 + 1e-7));
  EXPECT_EQ(difference(std::vector<float>{3 * scale, 4 * scale, 30, 40, 0.3F, 0.4F, 6, 8}, embedding.table().flat()),
            "");
  EXPECT_EQ(out.view()(1, 1, 0), 3 * scale);
}

/// The gradient is that of the lookup; renorming happens to the table before it, where PyTorch's autograd trips over
/// it.
TEST(Embedding, RenormingDoesNotDisturbTheGradient) {
  const std::vector<TokenId> ids = {0, 1, 0};
  const std::vector<float> dout = {1, 2, 4};
  Embedding plain = Embedding::from_pretrained(table_of({2, 1}, {30, 40}), {}, false);
  Embedding limited = Embedding::from_pretrained(table_of({2, 1}, {30, 40}), {.max_norm = 1.0}, false);
  const RowGradient before = limited.gradient({ids, {1, 3}}, {dout, {1, 3, 1}});
  limited.forward({ids, {1, 3}});
  const RowGradient after = limited.gradient({ids, {1, 3}}, {dout, {1, 3, 1}});
  const RowGradient expected = plain.gradient({ids, {1, 3}}, {dout, {1, 3, 1}});
  EXPECT_EQ(difference(expected.rows().flat(), before.rows().flat()), "");
  EXPECT_EQ(difference(expected.rows().flat(), after.rows().flat()), "");
}

TEST(Embedding, ReusesGroupsAndGradient) {
  const Embedding embedding = Embedding::from_pretrained(table_of({5, 1}, {1, 2, 3, 4, 5}), {.padding_idx = 0}, false);
  RowGroups groups;
  RowGradient gradient;
  const std::vector<float> dout = {1, 2, 4, 8};
  for (const std::vector<TokenId>& ids : {std::vector<TokenId>{0, 1, 2, 1}, std::vector<TokenId>{4, 4, 4, 0}}) {
    embedding.group({ids, {2, 2}}, groups);
    embedding.gradient(groups, {dout, {2, 2, 1}}, gradient);
    EXPECT_EQ(difference(embedding.gradient({ids, {2, 2}}, {dout, {2, 2, 1}}).rows().flat(), gradient.rows().flat()),
              "");
  }
  EXPECT_EQ(gradient.rows()(0, 0), 7.0F);
}

TEST(Embedding, RefusesOptionsThatDoNotFit) {
  Generator generator(1);
  const auto refused = [&](const EmbeddingOptions& options) {
    return message_of<std::logic_error>([&] { Embedding(6, 3, generator, options); });
  };
  EXPECT_EQ(refused({.padding_idx = 6}), "[Embedding] expected padding_idx from -V to V - 1 for V = 6, received 6");
  EXPECT_EQ(refused({.padding_idx = -7}), "[Embedding] expected padding_idx from -V to V - 1 for V = 6, received -7");
  EXPECT_EQ(refused({.padding_idx = INT64_MIN}),
            "[Embedding] expected padding_idx from -V to V - 1 for V = 6, received -9223372036854775808");
  EXPECT_EQ(refused({.max_norm = -1.0}), "[Embedding] expected max_norm of 0 or more, received -1.000000");
  EXPECT_EQ(refused({.max_norm = std::nan("")}), "[Embedding] expected max_norm of 0 or more, received nan");
  EXPECT_EQ(refused({.norm_type = 0.0}), "[Embedding] expected a positive norm_type, received 0.000000");
  EXPECT_EQ(message_of<std::invalid_argument>([] { Embedding::from_pretrained({}); }),
            "[Embedding] expected a table with rows and columns, received (0, 0)");
}

TEST(Embedding, RefusesIdsAndShapesThatDoNotFit) {
  Embedding embedding = Embedding::from_pretrained(table_of({2, 2}, {3, 4, 6, 8}), {.max_norm = 1.0}, false);
  const std::vector<std::int64_t> ids = {0, -1};
  const IdView batch(View<const std::int64_t, 2>(ids, {1, 2}));
  EXPECT_EQ(message_of<std::out_of_range>([&] { embedding.forward(batch); }),
            "[Embedding::forward] expected ids below V = 2, received -1 at (b=0, t=1)");
  EXPECT_EQ(difference(std::vector<float>{3, 4, 6, 8}, embedding.table().flat()), "")
      << "a refused call must renorm nothing";
  const std::vector<TokenId> good = {0, 1};
  const std::vector<float> dout(6);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              embedding.gradient({good, {1, 2}}, {dout, {1, 2, 3}});
            }),
            "[Embedding::gradient] expected dout of shape (B, T, d) = (1, 2, 2), received (1, 2, 3)");
}

/// Memory of so many floats that costs nothing until it is written.
class SparseFloats {
 public:
  explicit SparseFloats(std::size_t count) : count_(count) {
    void* data = mmap(nullptr, count * sizeof(float), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<float*>(data);
  }
  SparseFloats(const SparseFloats&) = delete;
  SparseFloats& operator=(const SparseFloats&) = delete;
  ~SparseFloats() { munmap(data_, count_ * sizeof(float)); }
  std::span<float> flat() { return {data_, count_}; }

 private:
  std::size_t count_;
  float* data_;
};

/// 262,144 x 8,960 numbers are more than 32 bits count: a row far back is not one near the front.
TEST(Embedding, CountsBeyond32Bits) {
  constexpr Shape<2> kTable = {262'144, 8'960};
  SparseFloats memory(element_count(kTable));
  const View<float, 2> table(memory.flat(), kTable);
  constexpr TokenId kFar = 262'143;
  table(kFar, 0) = 1.0F;
  table(kFar, 8'959) = 2.0F;
  const std::vector<TokenId> ids = {kFar, 0};
  Tensor<float, 3> out({1, 2, 8'960});
  lookup_rows(table, {ids, {1, 2}}, out);
  EXPECT_EQ(out.view()(0, 0, 0), 1.0F);
  EXPECT_EQ(out.view()(0, 0, 8'959), 2.0F);
  EXPECT_EQ(out.view()(0, 1, 0), 0.0F);

  // As a gradient of the output of (1, 262144) ids, of which all but two are padding.
  const View<const float, 3> dout(memory.flat(), {1, kTable[0], kTable[1]});
  EXPECT_EQ(&dout(0, kFar, 8'959) - dout.data(), std::ptrdiff_t{262'144} * 8'960 - 1) << "where an output would end";
  std::vector<TokenId> places(kTable[0], 1);
  places[0] = 0;
  places[kFar] = 2;
  for (const bool by_frequency : {false, true}) {
    Generator generator(1);
    const Embedding embedding(3, 8'960, generator, {.padding_idx = 1, .scale_grad_by_freq = by_frequency});
    const RowGradient gradient = embedding.gradient({places, {1, kTable[0]}}, dout);
    ASSERT_EQ(gradient.ids().size(), 2U);
    EXPECT_EQ(gradient.rows()(0, 0), 0.0F);
    EXPECT_EQ(gradient.rows()(1, 0), 1.0F);
    EXPECT_EQ(gradient.rows()(1, 8'959), 2.0F);
  }
}

}  // namespace
}  // namespace firstlayer
