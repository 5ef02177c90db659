#include "firstlayer/train/skip_gram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

/// Sentences of ten words that are all even or all odd.
struct TwoTopics {
  TwoTopics(std::size_t sentences, std::size_t vocabulary, std::uint64_t seed) {
    Generator generator(seed);
    for (std::size_t s = 0; s < sentences; ++s) {
      const std::uint32_t topic = generator.next_u32() % 2;
      for (int i = 0; i < 10; ++i) {
        ids.push_back(2 * (generator.next_u32() % static_cast<TokenId>(vocabulary / 2)) + topic);
      }
      ends.push_back(ids.size());
    }
    counts = count_ids(ids, vocabulary);
  }

  std::vector<TokenId> ids;
  std::vector<std::size_t> ends;
  std::vector<std::uint64_t> counts;
};

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    ab += a[k] * b[k];
    aa += a[k] * a[k];
    bb += b[k] * b[k];
  }
  return ab / std::sqrt(aa * bb);
}

TEST(CountIds, CountsEachId) {
  const TokenId ids[] = {2, 0, 2};
  EXPECT_EQ(count_ids(ids, 4), (std::vector<std::uint64_t>{1, 0, 2, 0}));
  EXPECT_EQ(message_of<std::out_of_range>([&] { count_ids(ids, 2); }),
            "[count_ids] expected ids below V = 2, received 2 at place 0");
}

TEST(SkipGram, BeginsAsWord2VecDoes) {
  const std::uint64_t counts[] = {1, 2, 3};
  const SkipGram model(counts, {.dim = 4, .seed = 7});
  Tensor<float, 2> expected({3, 4});
  Generator(7).fill_uniform(expected.flat(), -0.125, 0.125);
  EXPECT_EQ(testing::difference(expected.flat(), model.vectors().flat()), "");
  const Tensor<float, 2> contexts = model.context_vectors();
  for (const float u : contexts.flat()) EXPECT_EQ(u, 0.0F);
}

TEST(SkipGram, WordsOfATopicComeTogether) {
  const TwoTopics text(1000, 20, 1), held_out(100, 20, 2);
  SkipGram model(text.counts, {.dim = 16, .sample = 0, .epochs = 3});
  const double before = model.loss(held_out.ids, held_out.ends);
  EXPECT_NEAR(before, 6 * std::log(2.0), 0.3);  // a neighbour and five noise words, less those that are the neighbour
  EXPECT_TRUE(model.train(text.ids, text.ends));
  EXPECT_LT(model.loss(held_out.ids, held_out.ends), before - 0.4);
  const Tensor<float, 2> vectors = model.vectors();
  for (std::size_t word = 2; word < 20; word += 2) {
    EXPECT_GT(cosine(vectors.view()[0], vectors.view()[word]), 0.5) << word;
    EXPECT_LT(cosine(vectors.view()[0], vectors.view()[word + 1]), 0.3) << word + 1;
  }
}

TEST(SkipGram, TheBitsDoNotDependOnTheThreads) {
  const TwoTopics text(2000, 100, 3);  // more than eight chunks
  std::vector<Tensor<float, 2>> vectors, contexts;
  std::vector<double> losses;
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    SkipGram model(text.counts, {.dim = 20, .epochs = 1, .threads = threads});
    model.train(text.ids, text.ends);
    vectors.push_back(model.vectors());
    contexts.push_back(model.context_vectors());
    losses.push_back(model.loss(text.ids, text.ends));
  }
  for (std::size_t i = 1; i < vectors.size(); ++i) {
    EXPECT_EQ(testing::difference(vectors[0].flat(), vectors[i].flat()), "");
    EXPECT_EQ(testing::difference(contexts[0].flat(), contexts[i].flat()), "");
    EXPECT_EQ(losses[0], losses[i]);
  }
  SkipGram other(text.counts, {.dim = 20, .epochs = 1, .seed = 2});
  other.train(text.ids, text.ends);
  EXPECT_NE(testing::difference(vectors[0].flat(), other.vectors().flat()), "");
}

TEST(SkipGram, GoesOnFromATable) {
  const TwoTopics text(100, 10, 4);
  Tensor<float, 2> table({10, 5});
  Generator(9).fill_normal(table.flat());
  SkipGram model(text.counts, table, {.dim = 300, .rate = 0, .final_rate = 0, .epochs = 1});
  EXPECT_EQ(testing::difference(table.flat(), model.vectors().flat()), "");
  model.train(text.ids, text.ends);
  EXPECT_EQ(testing::difference(table.flat(), model.vectors().flat()), "") << "at a rate of 0";
}

TEST(SkipGram, ReportsAndStops) {
  const TwoTopics text(5000, 100, 5);
  std::vector<SkipGramProgress> reports;
  SkipGram model(text.counts, {.dim = 8, .epochs = 2});
  EXPECT_TRUE(model.train(text.ids, text.ends, [&](const SkipGramProgress& progress) {
    reports.push_back(progress);
    return true;
  }));
  ASSERT_GE(reports.size(), 4U);
  EXPECT_EQ(reports.back().words, 100'000U);
  EXPECT_EQ(reports.back().total_words, 100'000U);
  EXPECT_EQ(reports.back().epoch, 2U);
  EXPECT_FLOAT_EQ(static_cast<float>(reports.back().rate), 1e-4F);
  EXPECT_GT(reports.back().words_per_second, 0.0);
  EXPECT_GT(reports.front().pairs, 10'000U);
  EXPECT_LT(reports.back().loss, reports.front().loss);
  for (std::size_t i = 1; i < reports.size(); ++i) {
    EXPECT_LT(reports[i - 1].words, reports[i].words);
    EXPECT_GT(reports[i - 1].rate, reports[i].rate);
  }

  SkipGram stopped(text.counts, {.dim = 8, .epochs = 2});
  int calls = 0;
  EXPECT_FALSE(stopped.train(text.ids, text.ends, [&](const SkipGramProgress&) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
  EXPECT_NE(testing::difference(model.vectors().flat(), stopped.vectors().flat()), "");
}

TEST(SkipGram, OneWordAloneLearnsNothing) {
  const std::uint64_t counts[] = {5};
  const TokenId ids[] = {0};
  SkipGram model(counts, {.dim = 3});
  EXPECT_TRUE(model.train(ids));
  const Tensor<float, 2> contexts = model.context_vectors();
  for (const float u : contexts.flat()) EXPECT_EQ(u, 0.0F);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { model.loss(ids); }),
            "[SkipGram::loss] expected a sentence of two words or more, received none that sub-sampling left");
}

std::string refusal(const SkipGramOptions& options) {
  const std::uint64_t counts[] = {1, 1};
  return message_of<std::invalid_argument>([&] { SkipGram(counts, options); });
}

TEST(SkipGram, OptionsOutOfRangeAreRefused) {
  EXPECT_EQ(refusal({.dim = 0}), "[SkipGram] expected dim of at least 1, received 0");
  EXPECT_EQ(refusal({.window = 0}), "[SkipGram] expected window from 1 to 1000, received 0");
  EXPECT_EQ(refusal({.negatives = 0}), "[SkipGram] expected negatives from 1 to 1000, received 0");
  EXPECT_EQ(refusal({.negatives = 1001}), "[SkipGram] expected negatives from 1 to 1000, received 1001");
  EXPECT_EQ(refusal({.epochs = 0}), "[SkipGram] expected epochs from 1 to 1000000, received 0");
  EXPECT_EQ(refusal({.epochs = 1'000'001}), "[SkipGram] expected epochs from 1 to 1000000, received 1000001");
  EXPECT_EQ(refusal({.rate = std::numeric_limits<double>::quiet_NaN()}),
            "[SkipGram] expected rate to be finite and at least 0, received nan");
  EXPECT_EQ(refusal({.final_rate = std::numeric_limits<double>::infinity()}),
            "[SkipGram] expected final_rate to be finite and at least 0, received inf");
  EXPECT_EQ(refusal({.sample = -1}), "[SkipGram] expected sample to be finite and at least 0, received -1.000000");
  EXPECT_EQ(refusal({.noise_power = -1}),
            "[SkipGram] expected noise_power to be finite and at least 0, received -1.000000");
}

TEST(SkipGram, CountsAndTablesThatDoNotFitAreRefused) {
  const std::vector<std::uint64_t> none, zeros(3), ones(3, 1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SkipGram(none, {}); }),
            "[SkipGram] expected a count for each word of a vocabulary, received none");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SkipGram(zeros, {}); }),
            "[SkipGram] expected a word that occurs, received counts of 0 for all 3");
  const Tensor<float, 2> table({2, 4}), empty({3, 0});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SkipGram(ones, table, {}); }),
            "[SkipGram] expected a table with a row for each of 3 counts, received (2, 4)");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { SkipGram(ones, empty, {}); }),
            "[SkipGram] expected dim of at least 1, received 0");
}

TEST(SkipGram, ATextThatDoesNotFitIsRefused) {
  const std::uint64_t counts[] = {1, 1, 1};
  const TokenId ids[] = {0, 1, 3};
  const std::size_t ends[] = {4};
  SkipGram model(counts, {.dim = 3});
  const Tensor<float, 2> before = model.vectors();
  EXPECT_EQ(message_of<std::out_of_range>([&] { model.train(ids); }),
            "[SkipGram::train] expected ids below V = 3, received 3 at place 2");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { model.train(ids, ends); }),
            "[SkipGram::train] expected that the last sentence ends with the ids, at 3, received 4");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { model.train({}); }),
            "[SkipGram::train] expected ids to learn from, received none");
  EXPECT_EQ(message_of<std::out_of_range>([&] { model.loss(ids); }),
            "[SkipGram::loss] expected ids below V = 3, received 3 at place 2");
  EXPECT_EQ(testing::difference(before.flat(), model.vectors().flat()), "");
}

TEST(SkipGram, ALossThatIsNotFiniteStops) {
  const TwoTopics text(1000, 20, 6);
  SkipGram model(text.counts, {.dim = 8, .rate = 1e30});
  const std::string message = message_of<std::runtime_error>([&] { model.train(text.ids, text.ends); });
  EXPECT_TRUE(message.starts_with("[SkipGram::train] expected a finite loss, received inf or NaN after 10000 words;"))
      << message;
}

}  // namespace
}  // namespace firstlayer
