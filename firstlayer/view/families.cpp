#include "firstlayer/view/families.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "firstlayer/base/errors.h"

namespace firstlayer {

std::string folded_word(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
  std::string folded(word);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded;
}

Families::Families(std::size_t vocabulary, const std::function<std::string_view(TokenId)>& word_of)
    : family_(vocabulary), members_(vocabulary) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::size_t> sizes;
  for (std::size_t id = 0; id < vocabulary; ++id) {
    const auto [found, is_new] =
        numbers.try_emplace(folded_word(word_of(static_cast<TokenId>(id))), static_cast<std::uint32_t>(sizes.size()));
    if (is_new) sizes.push_back(0);
    family_[id] = found->second;
    ++sizes[found->second];
  }
  begins_.assign(sizes.size() + 1, 0);
  for (std::size_t family = 0; family < sizes.size(); ++family) begins_[family + 1] = begins_[family] + sizes[family];
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t id = 0; id < vocabulary; ++id) members_[next[family_[id]]++] = static_cast<TokenId>(id);
}

std::uint32_t Families::family_of(TokenId id) const {
  if (id >= family_.size()) {
    throw_out_of_range("Families", "an id below V = " + std::to_string(family_.size()), std::to_string(id));
  }
  return family_[id];
}

std::span<const TokenId> Families::members_of(TokenId id) const {
  const std::uint32_t family = family_of(id);
  return std::span(members_).subspan(begins_[family], begins_[family + 1] - begins_[family]);
}

std::vector<TokenId> Families::with_families(std::span<const TokenId> ids) const {
  std::vector<TokenId> all;
  for (const TokenId id : ids) {
    const std::span<const TokenId> members = members_of(id);
    all.insert(all.end(), members.begin(), members.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<Neighbor> fold_neighbors(const Families& families, std::size_t count,
                                     const std::function<std::vector<Neighbor>(std::size_t)>& search) {
  std::vector<Neighbor> folded;
  for (std::size_t asked = count * 3;; asked *= 2) {
    const std::vector<Neighbor> found = search(asked);
    std::vector<bool> seen(families.count());
    folded.clear();
    for (const Neighbor& neighbor : found) {
      const std::uint32_t family = families.family_of(neighbor.id);
      if (!seen[family]) folded.push_back(neighbor);
      seen[family] = true;
      if (folded.size() == count) return folded;
    }
    if (found.size() < asked) return folded;
  }
}

}  // namespace firstlayer
