#include "firstlayer/lookup/input_embedding.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/feed/windows.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/lookup/embedding_table.h"
#include "tests/feed/verdict.h"
#include "tests/lookup/golden.h"
#include "tests/same_bits.h"
#include "tests/sha256.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::sha256_hex;
using testing::TemporaryFolder;

template <class T>
std::string hash_of(std::span<const T> values) {
  return sha256_hex(std::as_bytes(values)).substr(0, 16);
}

std::vector<float> copied(const Tensor<float, 3>& tensor) { return {tensor.flat().begin(), tensor.flat().end()}; }

/// The running example: every window of The Verdict through two tables from seed 123.
TEST(InputEmbedding, GivesTheTensorOfTheRunningExample) {
  const std::vector<TokenId> ids = testing::verdict_ids();
  const WindowPlan plan = plan_windows(ids.size(), 4, 4);
  std::vector<std::size_t> windows(plan.count);
  for (std::size_t i = 0; i < windows.size(); ++i) windows[i] = i;
  Tensor<TokenId, 2> inputs({plan.count, 4});
  Tensor<TokenId, 2> targets({plan.count, 4});
  copy_windows(ids, plan, windows, inputs, targets);

  Generator generator(123);
  const InputEmbedding embedding({.vocabulary = 50257, .context = 4, .dim = 256}, generator);
  EXPECT_EQ(hash_of(embedding.token_table().flat()), "378aa211755db4f0");
  EXPECT_EQ(hash_of(embedding.position_table().flat()), "139e8e42fabcc27d");
  for (unsigned threads : {1U, 2U, 5U}) {
    const Tensor<float, 3> out = embedding.forward(inputs, threads);
    EXPECT_EQ(out.shape(), (Shape<3>{1286, 4, 256}));
    EXPECT_EQ(hash_of(out.flat()), "b31acb981bb9e44a") << threads << " threads";
    EXPECT_EQ(out.flat()[0], 0.478358746F);
    EXPECT_EQ(out.flat()[1], 0.209353104F);
    EXPECT_EQ(out.flat()[2], -1.30799139F);
  }
}

TEST(InputEmbedding, CountsItsParameters) {
  EXPECT_EQ((EmbeddingSizes{.vocabulary = 50257, .context = 1024, .dim = 768}.parameters()), 38'597'376U + 786'432U);
  EXPECT_EQ((EmbeddingSizes{.vocabulary = 50257, .context = 4, .dim = 256}.parameters()), 12'866'816U);
}

/// GPT-2's table and context; GPT-3's width with a smaller vocabulary.
TEST(InputEmbedding, WorksAtTheSizesOfGpt2AndGpt3) {
  for (const EmbeddingSizes& sizes : {EmbeddingSizes{50257, 1024, 768}, EmbeddingSizes{300, 16, 12288}}) {
    Generator generator(1);
    const InputEmbedding embedding(sizes, generator);
    Tensor<TokenId, 2> ids({2, sizes.context});
    for (std::size_t i = 0; i < ids.size(); ++i) ids.flat()[i] = static_cast<TokenId>(i * 7919 % sizes.vocabulary);
    const Tensor<float, 3> out = embedding.forward(ids);
    for (std::size_t t = 0; t < sizes.context; ++t) {
      for (std::size_t k : {std::size_t{0}, sizes.dim - 1}) {
        ASSERT_EQ(out.view()(1, t, k),
                  embedding.token_table().view()(ids.view()(1, t), k) + embedding.position_table().view()(t, k));
      }
    }
  }
}

TEST(InputEmbedding, SumsTokenAndPosition) {
  Tensor<float, 2> tokens({3, 2});
  Tensor<float, 2> positions({2, 2});
  for (std::size_t i = 0; i < 6; ++i) tokens.flat()[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < 4; ++i) positions.flat()[i] = static_cast<float>(10 * (i + 1));
  const InputEmbedding embedding(std::move(tokens), std::move(positions));
  EXPECT_EQ(embedding.sizes().vocabulary, 3U);
  EXPECT_EQ(embedding.sizes().context, 2U);
  EXPECT_EQ(embedding.sizes().dim, 2U);
  const std::vector<TokenId> ids = {2, 0, 2, 2};
  EXPECT_EQ(copied(embedding.forward({ids, {2, 2}})), (std::vector<float>{14, 25, 30, 41, 14, 25, 34, 45}));
  EXPECT_EQ(copied(embedding.forward({std::span(ids).first(1), {1, 1}})), (std::vector<float>{14, 25}))
      << "fewer ids than positions";
}

/// Positions are what tells two places of one token apart.
TEST(InputEmbedding, GivesOneTokenInTwoPlacesTwoVectors) {
  Generator generator(123);
  const InputEmbedding embedding({.vocabulary = 6, .context = 4, .dim = 3}, generator);
  const std::vector<TokenId> ids = {5, 5};
  const std::vector<float> with = copied(embedding.forward({ids, {1, 2}}));
  EXPECT_NE(std::vector<float>(with.begin(), with.begin() + 3), std::vector<float>(with.begin() + 3, with.end()));
  Tensor<float, 3> tokens_only({1, 2, 3});
  lookup_rows(embedding.token_table(), {ids, {1, 2}}, tokens_only);
  const std::vector<float> without = copied(tokens_only);
  EXPECT_EQ(std::vector<float>(without.begin(), without.begin() + 3),
            std::vector<float>(without.begin() + 3, without.end()));
}

TEST(InputEmbedding, StartsFromTheGivenDeviations) {
  Generator generator(7);
  const InputEmbedding embedding({.vocabulary = 50, .context = 8, .dim = 16}, generator, kGpt2Std);
  Generator again(7);
  const Tensor<float, 2> tokens = random_table(50, 16, again, 0.02);
  const Tensor<float, 2> positions = random_table(8, 16, again, 0.01);
  EXPECT_EQ(hash_of(embedding.token_table().flat()), hash_of(tokens.view().flat()));
  EXPECT_EQ(hash_of(embedding.position_table().flat()), hash_of(positions.view().flat()));
}

TEST(InputEmbedding, HandsItsTablesOver) {
  Generator generator(7);
  InputEmbedding embedding({.vocabulary = 5, .context = 4, .dim = 3}, generator);
  const float* data = embedding.token_table().view().data();
  const Tensor<float, 2> table = std::move(embedding).token_table();
  EXPECT_EQ(table.view().data(), data);
}

TEST(InputEmbedding, RefusesTablesThatDoNotFit) {
  Generator generator(1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              InputEmbedding({0, 4, 256}, generator);
            }),
            "[InputEmbedding] expected V, context and d of at least 1, received V = 0, context = 4, d = 256");
  EXPECT_THROW(InputEmbedding({6, 0, 3}, generator), std::invalid_argument);
  EXPECT_THROW(InputEmbedding({6, 4, 0}, generator), std::invalid_argument);
  EXPECT_THROW(InputEmbedding({SIZE_MAX, 4, 3}, generator), std::invalid_argument) << "V * d does not fit";
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              InputEmbedding(Tensor<float, 2>({6, 3}), Tensor<float, 2>({4, 5}));
            }),
            "[InputEmbedding] expected tables of one width d, received a token table (6, 3) of width 3 and a position "
            "table (4, 5) of width 5");
  EXPECT_THROW(InputEmbedding(Tensor<float, 2>(), Tensor<float, 2>()), std::invalid_argument);
}

TEST(InputEmbedding, RefusesIdsAndShapesThatDoNotFit) {
  Generator generator(1);
  const InputEmbedding embedding({.vocabulary = 6, .context = 3, .dim = 2}, generator);
  const std::vector<TokenId> ids = {0, 1, 2, 3, 4, 5, 5, 6};
  Tensor<float, 3> out({2, 3, 2});
  for (float& value : out.flat()) value = 5.0F;
  const auto last_six = std::span(ids).last(6);
  EXPECT_EQ(message_of<std::out_of_range>([&] {
              embedding.forward({last_six, {2, 3}}, out);
            }),
            "[InputEmbedding::forward] expected ids below V = 6, received 6 at (b=1, t=2)");
  EXPECT_EQ(
      message_of<std::out_of_range>([&] {
        embedding.forward({ids, {2, 4}});
      }),
      "[InputEmbedding::forward] expected at most context = 3 ids in a row, received T = 4; truncate_rows() keeps "
      "the first of each row");
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] {
        embedding.forward({last_six, {3, 2}}, out);
      }),
      "[InputEmbedding::forward] expected out of shape (B, T, d) = (3, 2, 2), a vector for each id of shape (B, T) "
      "= (3, 2), received (2, 3, 2)");
  for (float value : out.flat()) EXPECT_EQ(value, 5.0F) << "a refused call must write nothing";
  embedding.forward(truncate_rows({std::span(ids).first(4), {1, 4}}, 3));
}

TEST(InputEmbedding, HintsAtSwappedSizes) {
  Generator generator(1);
  const InputEmbedding embedding({3, 1, 50}, generator);
  const std::vector<TokenId> ids = {49};
  EXPECT_EQ(
      message_of<std::out_of_range>([&] {
        embedding.forward({ids, {1, 1}});
      }),
      "[InputEmbedding::forward] expected ids below V = 3, received 49 at (b=0, t=0); the table is (V, d) = (3, 50) "
      "and every id is below d: are its sizes swapped?");
}

/// E[ids] * scale + P[positions] and dropout, over all of these options, drawn in one stream.
TEST(InputEmbedding, HasTheBitsOfTorchsSumUnderEveryOption) {
  constexpr EmbeddingSizes kSizes{.vocabulary = 50, .context = 40, .dim = 65};
  const std::vector<TokenId> ids = testing::golden_ids(60, kSizes.vocabulary);
  std::vector<std::int64_t> positions(ids.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i * 7 % kSizes.context);
  for (testing::GoldenCase& golden : testing::golden_cases("sum")) {
    SCOPED_TRACE(golden.name());
    const std::string kind = golden.word();
    InputOptions options;
    if (kind == "offset") options.offset = 7;
    if (kind == "ids") options.positions = View<const std::int64_t, 2>(positions, {3, 20});
    options.scale = static_cast<float>(golden.number());
    const double p = golden.number();
    const std::string expected = golden.word();

    Generator generator(77);
    const InputEmbedding embedding(kSizes, generator);
    const DropoutMask mask(60 * kSizes.dim, p, generator);
    if (p > 0) options.dropout = &mask;
    for (unsigned threads : {1U, 3U}) {
      Tensor<float, 3> out({3, 20, kSizes.dim});
      embedding.forward({ids, {3, 20}}, out, options, threads);
      EXPECT_EQ(testing::sha256_of(out.flat()), expected) << threads << " threads";
    }
  }
}

TEST(InputEmbedding, NormalizesTheSumAndThenDropsOut) {
  Generator generator(3);
  const InputEmbedding embedding({.vocabulary = 9, .context = 8, .dim = 12}, generator);
  const std::vector<TokenId> ids = {1, 8, 3, 3, 0, 7};
  const DropoutMask mask(6 * 12, 0.5, generator);
  Tensor<float, 3> expected = embedding.forward({ids, {2, 3}});
  normalize({}, expected, expected);
  mask.apply(expected.flat(), expected.flat());
  Tensor<float, 3> out({2, 3, 12});
  embedding.forward({ids, {2, 3}}, out, {.normalization = Normalization{}, .dropout = &mask});
  EXPECT_EQ(testing::difference(expected.flat(), out.flat()), "");
}

TEST(InputEmbedding, MayHaveNoPositions) {
  Generator generator(123);
  const InputEmbedding embedding(random_table(6, 3, generator));
  EXPECT_FALSE(embedding.has_positions());
  EXPECT_EQ(embedding.sizes().parameters(), 18U);
  EXPECT_EQ(embedding.position_table().shape(), (Shape<2>{0, 0}));
  const std::vector<TokenId> ids = {5, 5, 0, 1, 2, 3, 4};
  Tensor<float, 3> rows({1, 7, 3});
  lookup_rows(embedding.token_table(), {ids, {1, 7}}, rows);
  EXPECT_EQ(testing::difference(rows.flat(), embedding.forward({ids, {1, 7}}).flat()), "");

  Tensor<float, 3> out({1, 7, 3});
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              embedding.forward({ids, {1, 7}}, out, {.offset = 1});
            }),
            "[InputEmbedding::forward] expected no positions where there is no position table, received offset = 1");
  EXPECT_THROW(embedding.forward({ids, {1, 7}}, out, {.positions = IdView(ids, {1, 7})}), std::invalid_argument);
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              InputEmbedding(Tensor<float, 2>({0, 3}));
            }),
            "[InputEmbedding] expected a token table with rows and columns, received (0, 3)");
}

TEST(InputEmbedding, LendsItsTablesToAnOptimizer) {
  InputEmbedding embedding(Tensor<float, 2>({2, 1}), Tensor<float, 2>({1, 1}));
  embedding.mutable_token_table()(1, 0) = 2.0F;
  embedding.mutable_position_table()(0, 0) = 0.5F;
  const std::vector<TokenId> ids = {1};
  EXPECT_EQ(embedding.forward({ids, {1, 1}}).flat()[0], 2.5F);
}

TEST(InputEmbedding, RefusesOptionsThatDoNotFit) {
  Generator generator(1);
  const InputEmbedding embedding({.vocabulary = 6, .context = 4, .dim = 2}, generator);
  const std::vector<TokenId> ids = {0, 1, 2};
  Tensor<float, 3> out({1, 3, 2});
  for (float& value : out.flat()) value = 5.0F;
  const auto refused = [&](const InputOptions& options) {
    return message_of<std::logic_error>([&] { embedding.forward({ids, {1, 3}}, out, options); });
  };
  const std::string start = "[InputEmbedding::forward] expected ";
  EXPECT_EQ(refused({.offset = 2}),
            start +
                "at most context = 4 ids in a row, received T = 3 from offset = 2; truncate_rows() keeps the first "
                "of each row");
  EXPECT_NE(refused({.offset = SIZE_MAX}), "");
  const std::vector<std::int64_t> positions = {0, 4, -1};
  const View<const std::int64_t, 2> beyond(positions, {1, 3});
  EXPECT_EQ(refused({.positions = beyond}), start + "positions below context = 4, received 4 at (b=0, t=1)");
  const std::vector<std::int64_t> negative = {0, 3, -1};
  EXPECT_EQ(refused({.positions = View<const std::int64_t, 2>(negative, {1, 3})}),
            start + "positions below context = 4, received -1 at (b=0, t=2)");
  EXPECT_EQ(refused({.positions = IdView(ids, {3, 1})}),
            start + "a position for each id of shape (B, T) = (1, 3), received (3, 1)");
  EXPECT_EQ(refused({.positions = IdView(ids, {1, 3}), .offset = 1}),
            start + "positions or an offset, received both, offset = 1");
  EXPECT_EQ(refused({.normalization = Normalization{.eps = -1.0}}),
            start + "a finite eps of 0 or more, received -1.000000");
  const DropoutMask mask(5, 0.5, generator);
  EXPECT_EQ(refused({.dropout = &mask}), start + "a dropout mask for B * T * d = 6 numbers, received 5");
  for (float value : out.flat()) EXPECT_EQ(value, 5.0F) << "a refused call must write nothing";
}

/// The sum that a trained minGPT recorded for three rows of eleven ids; its file has names with the prefix, and more.
TEST(LoadGpt2, GivesTheSumThatATrainedModelRecorded) {
  const std::string path = FIRSTLAYER_TEST_DATA "/lookup/tinygpt.safetensors";
  const InputEmbedding embedding = InputEmbedding::load_gpt2(path);
  EXPECT_EQ(embedding.token_table().shape(), (Shape<2>{3, 48}));
  EXPECT_EQ(embedding.position_table().shape(), (Shape<2>{11, 48}));

  const SafetensorsFile file = SafetensorsFile::open(path);
  const StoredTensor& idx = *file.find("idx");
  const StoredTensor& x = *file.find("x");
  Tensor<TokenId, 2> ids({3, 11});
  ASSERT_EQ(idx.bytes.size(), ids.size() * sizeof(TokenId));
  std::memcpy(ids.flat().data(), idx.bytes.data(), idx.bytes.size());
  const Tensor<float, 3> out = embedding.forward(ids);
  EXPECT_EQ(sha256_hex(std::as_bytes(out.flat())), sha256_hex(x.bytes));
}

/// A file with the given float32 tensors; value i of each is i.
std::filesystem::path write_model(const TemporaryFolder& folder,
                                  const std::map<std::string, std::vector<std::size_t>>& shapes) {
  std::vector<TensorSpec> specs;
  for (const auto& [name, shape] : shapes) specs.push_back({name, Dtype::kF32, shape});
  const std::filesystem::path path = folder / "model.safetensors";
  SafetensorsWriter writer(path, specs);
  for (const TensorSpec& tensor : writer.tensors()) {
    std::vector<float> values(element_count(tensor.shape));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    writer.append(std::as_bytes(std::span(values)));
  }
  writer.commit();
  return path;
}

TEST(LoadGpt2, ReadsNamesWithAndWithoutThePrefix) {
  const std::vector<TokenId> ids = {4, 0};
  for (const std::string prefix : {"", "transformer."}) {
    const TemporaryFolder folder;
    const auto path = write_model(folder, {{prefix + "wte.weight", {5, 2}},
                                           {prefix + "wpe.weight", {3, 2}},
                                           {prefix + "h.0.attn.bias", {1, 1, 3, 3}},
                                           {"lm_head.weight", {5, 2}}});
    const InputEmbedding embedding = InputEmbedding::load_gpt2(path);
    EXPECT_EQ(embedding.sizes().context, 3U);
    EXPECT_EQ(copied(embedding.forward({ids, {1, 2}})), (std::vector<float>{8, 10, 2, 4})) << prefix;
  }
}

TEST(LoadGpt2, GivesTheTokensAlone) {
  const TemporaryFolder folder;
  const auto path = write_model(folder, {{"transformer.wte.weight", {5, 2}}});
  const InputEmbedding embedding = InputEmbedding::load_gpt2_tokens(path);
  EXPECT_FALSE(embedding.has_positions());
  const std::vector<TokenId> ids = {4, 0};
  EXPECT_EQ(copied(embedding.forward({ids, {1, 2}})), (std::vector<float>{8, 9, 0, 1}));
}

std::string load_message(const std::map<std::string, std::vector<std::size_t>>& shapes) {
  const TemporaryFolder folder;
  const auto path = write_model(folder, shapes);
  const std::string message = message_of<FormatError>([&] { InputEmbedding::load_gpt2(path); });
  const std::string start = path.string() + ": ";
  EXPECT_EQ(message.substr(0, start.size()), start);
  return message.substr(start.size());
}

TEST(LoadGpt2, RefusesFilesWithoutOneOfEachTable) {
  EXPECT_EQ(load_message({{"wpe.weight", {3, 2}}, {"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}, {"e", {1}}}),
            "expected a GPT-2 table wte.weight or transformer.wte.weight, received 6 tensors: a, b, c, d, e, …");
  EXPECT_EQ(load_message({{"wte.weight", {3, 2}}}),
            "expected a GPT-2 table wpe.weight or transformer.wpe.weight, received 1 tensors: wte.weight");
  EXPECT_EQ(load_message({{"wte.weight", {5, 2}}, {"transformer.wte.weight", {5, 2}}, {"wpe.weight", {3, 2}}}),
            "expected a table under one name, received both wte.weight and transformer.wte.weight; remove one of them");
}

TEST(LoadGpt2, RefusesTablesThatDoNotFit) {
  EXPECT_EQ(load_message({{"wte.weight", {5, 2}}, {"wpe.weight", {3, 4}}}),
            "expected wte.weight and wpe.weight of one width, received (5, 2) and (3, 4)");
  EXPECT_EQ(load_message({{"wte.weight", {0, 2}}, {"wpe.weight", {3, 2}}}),
            "expected rows and columns in wte.weight, received shape (0, 2)");
  EXPECT_NE(load_message({{"wte.weight", {5, 2, 1}}, {"wpe.weight", {3, 2}}}).find("wte.weight"), std::string::npos);
}

TEST(LoadGpt2, RefusesAFileThatIsNotThere) {
  EXPECT_THROW(InputEmbedding::load_gpt2("no/such/file.safetensors"), FileError);
}

}  // namespace
}  // namespace firstlayer
