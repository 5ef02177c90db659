#include "firstlayer/view/word_tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/view/analogy.h"
#include "firstlayer/view/byte_rows.h"
#include "firstlayer/view/word_lists.h"

namespace firstlayer {
namespace {

/// Ranks from 1; equal values share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::optional<double> rank_correlation(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) {
    throw_invalid("rank_correlation", std::to_string(x.size()) + " values of y", std::to_string(y.size()));
  }
  const std::vector<double> x_ranks = ranks_of(x);
  const std::vector<double> y_ranks = ranks_of(y);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x_ranks[i] - mean) * (y_ranks[i] - mean);
    xx += (x_ranks[i] - mean) * (x_ranks[i] - mean);
    yy += (y_ranks[i] - mean) * (y_ranks[i] - mean);
  }
  if (xx == 0 || yy == 0) return {};
  return xy / std::sqrt(xx * yy);
}

SimilarityResult test_similarity(const NeighborTable& table, const RowOfWord& row_of) {
  if (table.metric() != Metric::kCosine) {
    throw_invalid("test_similarity", "a table for the metric cosine", metric_name(table.metric()));
  }
  std::vector<double> ratings;
  std::vector<double> cosines;
  for (const RatedPair& pair : wordsim_353()) {
    const std::optional<TokenId> first = row_of(pair.first);
    const std::optional<TokenId> second = row_of(pair.second);
    if (!first || !second) continue;
    if (*first >= table.shape()[0]) {
      throw_out_of_range("test_similarity", "rows below V = " + std::to_string(table.shape()[0]),
                         std::to_string(*first));
    }
    ratings.push_back(pair.rating);
    cosines.push_back(table.score(table.rows().table()[*first], *second));
  }
  return {ratings.size(), wordsim_353().size(), rank_correlation(ratings, cosines)};
}

std::vector<AnalogyResult> test_analogies(const NeighborTable& table, const RowOfWord& row_of,
                                          NeighborOptions options) {
  std::vector<AnalogyResult> results;
  std::vector<Analogy> asked;
  std::vector<TokenId> answers;
  for (const QuestionSection& section : word_questions()) {
    AnalogyResult& result = results.emplace_back(AnalogyResult{section.name, 0, 0, section.questions.size()});
    for (const WordQuestion& question : section.questions) {
      const std::optional<TokenId> a = row_of(question.a);
      const std::optional<TokenId> b = row_of(question.b);
      const std::optional<TokenId> c = row_of(question.c);
      const std::optional<TokenId> answer = row_of(question.answer);
      if (!a || !b || !c || !answer) continue;
      asked.push_back({*b, *a, *c});  // Greece - Athens + Baghdad
      answers.push_back(*answer);
      ++result.asked;
    }
  }
  options.count = 1;
  const std::vector<std::vector<Neighbor>> found = find_analogies(table, asked, AnalogyRule::kAdd, options);
  std::size_t question = 0;
  for (AnalogyResult& result : results) {
    for (const std::size_t end = question + result.asked; question < end; ++question) {
      if (!found[question].empty() && found[question].front().id == answers[question]) ++result.right;
    }
  }
  return results;
}

AnalogyResult sum_of(const std::vector<AnalogyResult>& sections) {
  AnalogyResult all;
  for (const AnalogyResult& section : sections) {
    all.right += section.right;
    all.asked += section.asked;
    all.questions += section.questions;
  }
  return all;
}

}  // namespace firstlayer
