#pragma once
// How well a table of words agrees with people: which words are alike, and what is to king as woman is to man. A table
// without a word's row is not asked about it, so each result says how much was asked.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/view/neighbors.h"

namespace firstlayer {

/// The row of a word as word_lists.h spells it, such as "Athens"; nothing if there is none.
using RowOfWord = std::function<std::optional<TokenId>(std::string_view word)>;

struct SimilarityResult {
  std::size_t asked = 0;      ///< pairs both of whose words have a row
  std::size_t pairs = 0;      ///< of the list
  std::optional<double> rho;  ///< nothing for fewer than two pairs, and where all are equally alike
};

/// Spearman's rank correlation of the people's ratings in wordsim_353() with the cosines of the words' rows; equal
/// values share the mean of their ranks. Throws std::invalid_argument unless the table's metric is the cosine,
/// std::out_of_range for a row that is none.
SimilarityResult test_similarity(const NeighborTable& table, const RowOfWord& row_of);

struct AnalogyResult {
  std::string_view section;
  std::size_t right = 0;
  std::size_t asked = 0;      ///< all four words have a row
  std::size_t questions = 0;  ///< of the section
};

/// The sections of word_questions(), answered by 3CosAdd with the nearest row that `options` allow; its count is not
/// looked at. Throws as find_analogies().
std::vector<AnalogyResult> test_analogies(const NeighborTable& table, const RowOfWord& row_of,
                                          NeighborOptions options = {});

/// All sections as one, with no name.
AnalogyResult sum_of(const std::vector<AnalogyResult>& sections);

/// Pearson's correlation of the ranks of x and of y, which are as long; ranks and what has none as
/// SimilarityResult::rho. Throws std::invalid_argument for different lengths.
std::optional<double> rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace firstlayer
