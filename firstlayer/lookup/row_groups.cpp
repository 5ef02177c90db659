#include "firstlayer/lookup/row_groups.h"

#include <bit>
#include <limits>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/check_lookup.h"

namespace firstlayer {

void RowGroups::assign(IdView ids, std::size_t vocabulary, std::optional<TokenId> skipped) {
  constexpr std::string_view kWhere = "RowGroups";
  const CheckedIds checked(kWhere, {vocabulary, 0}, ids);
  const std::span<const TokenId> flat = checked.view().flat();
  if (flat.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw_invalid(kWhere, "fewer than 2^32 places", shape_text(ids.shape()));
  }
  vocabulary_ = vocabulary;
  batch_ = ids.shape();
  if (next_.size() < vocabulary) {
    next_.resize(vocabulary);
    used_.resize((vocabulary + 63) / 64);
  }

  for (const TokenId id : flat) {
    ++next_[id];
    used_[id / 64] |= std::uint64_t{1} << id % 64;
  }
  if (skipped && *skipped < vocabulary) {
    next_[*skipped] = 0;
    used_[*skipped / 64] &= ~(std::uint64_t{1} << *skipped % 64);
  }
  // The bits give the ids in ascending order without sorting them: the rows are then visited as they lie.
  ids_.clear();
  starts_.clear();
  std::uint32_t start = 0;
  for (std::size_t word = 0; word < used_.size(); ++word) {
    for (; used_[word] != 0; used_[word] &= used_[word] - 1) {
      const auto id = static_cast<TokenId>(word * 64 + static_cast<std::size_t>(std::countr_zero(used_[word])));
      ids_.push_back(id);
      starts_.push_back(start);
      const std::uint32_t count = next_[id];
      next_[id] = start;
      start += count;
    }
  }
  starts_.push_back(start);
  places_.resize(start);
  for (std::size_t place = 0; place < flat.size(); ++place) {
    if (flat[place] != skipped) places_[next_[flat[place]]++] = static_cast<std::uint32_t>(place);
  }
  for (const TokenId id : ids_) next_[id] = 0;
}

}  // namespace firstlayer
