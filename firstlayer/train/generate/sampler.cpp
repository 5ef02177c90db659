#include "firstlayer/train/generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

constexpr std::string_view kSample = "Sampler::sample";

const SamplerOptions& checked(const SamplerOptions& options) {
  if (!(options.temperature > 0) || !std::isfinite(options.temperature)) {
    throw_invalid("Sampler", "a temperature above 0", std::to_string(options.temperature));
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    throw_invalid("Sampler", "a top_p above 0, at most 1", std::to_string(options.top_p));
  }
  return options;
}

/// The first of the largest logits.
std::size_t largest_of(std::span<const float> logits) {
  std::size_t largest = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (std::isnan(logits[id]) || logits[id] == INFINITY) {
      throw_invalid(kSample, "logits that are numbers", std::to_string(logits[id]) + " for id " + std::to_string(id));
    }
    if (logits[id] > logits[largest]) largest = id;
  }
  if (logits.empty() || logits[largest] == -INFINITY) {
    throw_invalid(kSample, "a logit above -inf", "none of " + std::to_string(logits.size()));
  }
  return largest;
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options, std::uint64_t seed) : options_(checked(options)), generator_(seed) {}

bool Sampler::comes_first(const Candidate& left, const Candidate& right) {
  return left.logit != right.logit ? left.logit > right.logit : left.id < right.id;
}

TokenId Sampler::sample(std::span<const float> logits) {
  const std::size_t largest = largest_of(logits);
  if (options_.greedy) return static_cast<TokenId>(largest);
  candidates_.clear();
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const double below = static_cast<double>(logits[id]) - static_cast<double>(logits[largest]);
    candidates_.push_back({static_cast<TokenId>(id), logits[id], std::exp(below / options_.temperature)});
  }
  keep_top_k();
  keep_top_p();

  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.weight;
  const double unit = static_cast<double>(generator_.next_u64() >> 11) * 0x1p-53;
  double until = unit * sum;
  const Candidate* chosen = nullptr;
  for (const Candidate& candidate : candidates_) {
    if (candidate.weight == 0) continue;
    chosen = &candidate;  // the last one, should rounding leave something over
    until -= candidate.weight;
    if (until < 0) break;
  }
  return chosen->id;
}

void Sampler::keep_top_k() {
  if (options_.top_k == 0 || options_.top_k >= candidates_.size()) return;
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(options_.top_k);
  std::nth_element(candidates_.begin(), end, candidates_.end(), comes_first);
  candidates_.erase(end, candidates_.end());
  std::ranges::sort(candidates_, {}, &Candidate::id);
}

void Sampler::keep_top_p() {
  if (options_.top_p >= 1) return;
  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.weight;
  // Few are wanted as a rule, so they are taken off a heap one by one instead of sorting all.
  const auto comes_later = [](const Candidate& left, const Candidate& right) { return comes_first(right, left); };
  std::ranges::make_heap(candidates_, comes_later);
  auto rest = candidates_.end();
  double kept = 0;
  while (rest != candidates_.begin() && kept < options_.top_p * sum) {
    std::pop_heap(candidates_.begin(), rest, comes_later);
    --rest;
    kept += rest->weight;
  }
  candidates_.erase(candidates_.begin(), rest);
  std::ranges::sort(candidates_, {}, &Candidate::id);
}

}  // namespace firstlayer
