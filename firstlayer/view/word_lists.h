#pragma once
// Two published lists of words that tables are measured by: pairs that people have compared, and analogies. Both are
// compiled in; data/README.md has their origin.

#include <span>
#include <string_view>
#include <vector>

namespace firstlayer {

/// Two words, and how alike people found them: from 0 to 10.
struct RatedPair {
  std::string_view first;
  std::string_view second;
  double rating;
};

/// WordSim-353, in its order: love, sex, 6.77. Finkelstein et al. (2002)
std::span<const RatedPair> wordsim_353();

/// a is to b as c is to `answer`: Athens, Greece, Baghdad, Iraq.
struct WordQuestion {
  std::string_view a;
  std::string_view b;
  std::string_view c;
  std::string_view answer;
};

struct QuestionSection {
  std::string_view name;  ///< "capital-common-countries"
  std::vector<WordQuestion> questions;
};

/// The 19,544 questions of word2vec's questions-words.txt in 14 sections, in their order. Mikolov et al. (2013)
std::span<const QuestionSection> word_questions();

}  // namespace firstlayer
