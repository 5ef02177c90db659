#include "cli/suggestion.h"

#include <algorithm>
#include <cstddef>

namespace firstlayer::cli {
namespace {

/// The optimal string alignment distance.
std::size_t changes_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> changes(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) changes[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) changes[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = changes[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      changes[i][j] = std::min({replaced, changes[i - 1][j] + 1, changes[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        changes[i][j] = std::min(changes[i][j], changes[i - 2][j - 2] + 1);
      }
    }
  }
  return changes[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestWord = 64;
  if (word.empty() || word.size() > kLongestWord) return {};
  const auto begins = [word](const std::string& name) { return name.starts_with(word); };
  if (std::count_if(names.begin(), names.end(), begins) == 1) return *std::find_if(names.begin(), names.end(), begins);
  std::size_t fewest = word.size() / 3 + 1;
  std::string best;
  for (const std::string& name : names) {
    const std::size_t changes = changes_between(word, name);
    if (changes < fewest || (changes == fewest && best.empty())) {
      fewest = changes;
      best = name;
    }
  }
  return best;
}

}  // namespace firstlayer::cli
