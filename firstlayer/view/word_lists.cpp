#include "firstlayer/view/word_lists.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace firstlayer {

extern const std::string_view kWordPairsText;      // data/wordsim353.tsv
extern const std::string_view kQuestionPairsText;  // data/questions-words.pairs

namespace {

/// Takes the text up to `end` off, and `end` too.
std::string_view take(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::vector<RatedPair> read_rated_pairs() {
  std::vector<RatedPair> pairs;
  for (std::string_view text = kWordPairsText; !text.empty();) {
    std::string_view line = take(text, '\n');
    if (line.starts_with('#')) continue;
    RatedPair pair{take(line, '\t'), take(line, '\t'), 0};
    std::from_chars(line.data(), line.data() + line.size(), pair.rating);
    pairs.push_back(pair);
  }
  return pairs;
}

struct WordPair {
  std::string_view first;
  std::string_view second;
};

/// Each pair asks about the pairs that follow it, at most so many, the first again after the last.
constexpr std::size_t kReach = 39;

/// A pair does not ask about one that has a word in its own place in common: Glendale in Arizona, in California.
std::vector<WordQuestion> questions_of(std::span<const WordPair> pairs) {
  std::vector<WordQuestion> questions;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t ahead = 1; ahead <= std::min(kReach, pairs.size() - 1); ++ahead) {
      const WordPair& pair = pairs[i];
      const WordPair& other = pairs[(i + ahead) % pairs.size()];
      if (pair.first == other.first || pair.second == other.second) continue;
      questions.push_back({pair.first, pair.second, other.first, other.second});
    }
  }
  return questions;
}

std::vector<QuestionSection> read_questions() {
  std::vector<QuestionSection> sections;
  std::vector<WordPair> pairs;
  for (std::string_view text = kQuestionPairsText; !text.empty();) {
    std::string_view line = take(text, '\n');
    const std::string_view first = take(line, ' ');
    if (first == ":") {
      sections.push_back({line, {}});
      pairs.clear();
      continue;
    }
    pairs.push_back({first, line});
    if (text.empty() || text.starts_with(':')) sections.back().questions = questions_of(pairs);
  }
  return sections;
}

}  // namespace

std::span<const RatedPair> wordsim_353() {
  static const std::vector<RatedPair> pairs = read_rated_pairs();
  return pairs;
}

std::span<const QuestionSection> word_questions() {
  static const std::vector<QuestionSection> sections = read_questions();
  return sections;
}

}  // namespace firstlayer
