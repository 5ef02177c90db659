#include "firstlayer/train/skip_gram_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace firstlayer::skip_gram {
namespace {

constexpr double kTwo32 = 4294967296.0;

}  // namespace

double keep_probability(std::uint64_t count, std::uint64_t total, double sample) {
  if (sample == 0.0 || count == 0) return 1.0;
  const double part = static_cast<double>(count) / static_cast<double>(total);
  return std::min(1.0, (std::sqrt(part / sample) + 1.0) * sample / part);
}

SubSampling::SubSampling(std::span<const std::uint64_t> counts, double sample) {
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  thresholds_.reserve(counts.size());
  for (const std::uint64_t count : counts) {
    thresholds_.push_back(static_cast<std::uint64_t>(std::llround(keep_probability(count, total, sample) * kTwo32)));
  }
}

NoiseTable::NoiseTable(std::span<const std::uint64_t> counts, double power) : entries_(counts.size()) {
  // What each id has, in columns: the mean is 1. Of the largest count, so that no power is too large for a double.
  const auto most = static_cast<double>(*std::ranges::max_element(counts));
  std::vector<double> share(counts.size());
  for (std::size_t id = 0; id < counts.size(); ++id) {
    share[id] = counts[id] == 0 ? 0.0 : std::pow(static_cast<double>(counts[id]) / most, power);
  }
  const double columns = static_cast<double>(counts.size()) / std::accumulate(share.begin(), share.end(), 0.0);
  std::vector<TokenId> poor, rich;
  for (std::size_t id = 0; id < counts.size(); ++id) {
    share[id] *= columns;
    (share[id] < 1.0 ? poor : rich).push_back(static_cast<TokenId>(id));
    entries_[id] = {0, static_cast<TokenId>(id)};  // all of the column, unless it gets another alias
  }
  while (!poor.empty() && !rich.empty()) {
    const TokenId id = poor.back();
    const TokenId giver = rich.back();
    poor.pop_back();
    // Rounds to 2^32 only where the column is all but full: then its last coin in 2^32 goes to the alias.
    entries_[id] = {static_cast<std::uint32_t>(std::min(std::floor(share[id] * kTwo32), kTwo32 - 1.0)), giver};
    share[giver] -= 1.0 - share[id];
    if (share[giver] < 1.0) {
      rich.pop_back();
      poor.push_back(giver);
    }
  }
}

std::vector<double> NoiseTable::probabilities() const {
  std::vector<double> sums(entries_.size());
  const double column = 1.0 / static_cast<double>(entries_.size());
  for (std::size_t id = 0; id < entries_.size(); ++id) {
    const double own = entries_[id].threshold / kTwo32;
    sums[id] += own * column;
    sums[entries_[id].alias] += (1.0 - own) * column;
  }
  return sums;
}

}  // namespace firstlayer::skip_gram
