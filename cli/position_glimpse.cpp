#include "cli/position_glimpse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "firstlayer/lookup/position/alibi.h"
#include "firstlayer/lookup/position/relative_bias.h"
#include "firstlayer/lookup/position/rotary_scaling.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kHeadDim = 64;                         // GPT-2's and Llama 3.2's
constexpr double kBase = 10000;                              // RoFormer's
constexpr std::size_t kHeads = 8;                            // the example of ALiBi's paper
constexpr RelativeBuckets kBuckets{.bidirectional = false};  // T5's decoder
constexpr std::size_t kDistance = 64;                        // shares its bucket with its neighbours

std::size_t bucket_of(std::size_t distance) { return relative_bucket(-static_cast<std::int64_t>(distance), kBuckets); }

std::string_view role_text(PositionRole role) {
  switch (role) {
    case PositionRole::kNone:
      return "none";
    case PositionRole::kAdded:
      return "added";
    case PositionRole::kRotatesQueriesAndKeys:
      return "rotates queries and keys";
    case PositionRole::kBiasesScores:
      return "biases scores";
  }
  return "";
}

template <class Number>
std::string first_numbers(std::span<const Number> numbers) {
  constexpr std::size_t kShown = 3;
  return fmt::format("{:.4g} ...", fmt::join(numbers.first(kShown), " "));
}

}  // namespace

PositionGlimpse position_glimpse(PositionScheme scheme) {
  switch (scheme) {
    case PositionScheme::kRotary:
      return {fmt::format("heads of {}", kHeadDim),
              "q, k turn by t * theta: " + first_numbers<double>(rotary_frequencies(kHeadDim, kBase).theta)};
    case PositionScheme::kAlibi:
      return {fmt::format("{} heads", kHeads),
              "scores - slope * distance: " + first_numbers<float>(alibi_slopes(kHeads))};
    case PositionScheme::kT5:
      return {fmt::format("{} buckets", kBuckets.count),
              fmt::format("scores + b[bucket]: distance {} in bucket {}", kDistance, bucket_of(kDistance))};
    default:
      return {};
  }
}

Json position_json(PositionScheme scheme) {
  Json json{{"scheme", scheme_name(scheme)}, {"role", role_text(position_role(scheme))}};
  switch (scheme) {
    case PositionScheme::kRotary:
      json["head_dim"] = kHeadDim;
      json["base"] = kBase;
      json["theta"] = rotary_frequencies(kHeadDim, kBase).theta;
      break;
    case PositionScheme::kAlibi:
      json["heads"] = kHeads;
      json["slopes"] = alibi_slopes(kHeads);
      break;
    case PositionScheme::kT5:
      json["buckets"] = kBuckets.count;
      json["max_distance"] = kBuckets.max_distance;
      json["bidirectional"] = kBuckets.bidirectional;
      json["bucket_of_distance"] = {{std::to_string(kDistance), bucket_of(kDistance)}};
      break;
    default:
      break;
  }
  return json;
}

}  // namespace firstlayer::cli
