// What tells slots apart: nothing in a lookup, nothing in attention, but the position that was added.

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/random.h"
#include "firstlayer/view/claims.h"
#include "firstlayer/view/compare.h"

namespace firstlayer {
namespace {

constexpr char kTwoTokens[] = "two different tokens, as in: dog bites man";

/// Another order in which the row reads differently: slot t gets what stood at order[t]. Backwards; for what reads the
/// same backwards, one slot to the left. Empty if the row is one id all along, which no order changes.
std::vector<std::size_t> another_order(std::span<const TokenId> ids) {
  const std::size_t T = ids.size();
  if (std::all_of(ids.begin(), ids.end(), [&](TokenId id) { return id == ids[0]; })) return {};
  const bool palindrome = std::equal(ids.begin(), ids.end(), ids.rbegin());
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < T; ++t) order.push_back(palindrome ? (t + 1) % T : T - 1 - t);
  return order;
}

std::vector<TokenId> reordered(std::span<const TokenId> ids, std::span<const std::size_t> order) {
  std::vector<TokenId> row;
  for (const std::size_t t : order) row.push_back(ids[t]);
  return row;
}

/// How many vectors of `a` find one in `b` with the same bits, each of which counts once.
std::size_t common_vectors(View<const float, 2> a, View<const float, 2> b) {
  const auto bits = [](std::span<const float> vector) {
    std::vector<std::uint32_t> words;
    for (const float value : vector) words.push_back(std::bit_cast<std::uint32_t>(value));
    return words;
  };
  std::map<std::vector<std::uint32_t>, std::size_t> left;
  for (std::size_t t = 0; t < a.dim(0); ++t) ++left[bits(a[t])];
  std::size_t common = 0;
  for (std::size_t t = 0; t < b.dim(0); ++t) {
    const auto found = left.find(bits(b[t]));
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++common;
  }
  return common;
}

NamedVector named(std::string name, std::span<const float> values) {
  return {std::move(name), {values.begin(), values.end()}};
}

NamedVector named(std::string name, std::span<const double> values) {
  NamedVector vector{std::move(name), {}};
  for (const double value : values) vector.values.push_back(static_cast<float>(value));
  return vector;
}

/// A later slot and the first slot with the same token.
struct SlotPair {
  std::size_t first;
  std::size_t later;
};

std::vector<SlotPair> same_token_pairs(std::span<const TokenId> ids) {
  std::map<TokenId, std::size_t> first;
  std::vector<SlotPair> pairs;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const auto [found, is_new] = first.emplace(ids[t], t);
    if (!is_new) pairs.push_back({found->second, t});
  }
  return pairs;
}

/// What attention makes of two orders of the same vectors.
struct AttentionPair {
  Tensor<double, 2> original;    ///< (T, h)
  Tensor<double, 2> rearranged;  ///< (T, h), slot t of which belongs to slot order[t] of `original`
  double difference = 0;         ///< the largest between values that belong together
  double size = 0;               ///< the largest value

  // Sums of the same numbers in another order differ by rounding, some 1e-16 of their size for each of T.
  bool same() const { return difference <= size * 1e-9; }
  bool different() const { return difference > size * 1e-9; }  ///< nor is this if a number is none
};

AttentionPair attend(const Experiment& experiment, std::span<const std::size_t> order, View<const float, 2> x,
                     View<const float, 2> rearranged) {
  constexpr std::size_t kHead = 64;  // the width of a head in every GPT-2
  Generator generator(experiment.seed);
  const AttentionWeights weights = random_attention(x.dim(1), std::min(x.dim(1), kHead), generator);
  AttentionPair pair;
  pair.original = experiment.layer.attention(x, weights);
  pair.rearranged = experiment.layer.attention(rearranged, weights);
  if (pair.original.dim(0) != order.size()) {
    throw_invalid("explain", "attention to (T, h) for T = " + std::to_string(order.size()),
                  shape_text(pair.original.shape()));
  }
  std::vector<double> expected;
  for (const std::size_t t : order) {
    const std::span<const double> vector = std::as_const(pair.original).view()[t];
    expected.insert(expected.end(), vector.begin(), vector.end());
  }
  pair.difference = largest_difference<double>(expected, std::as_const(pair.rearranged).flat());
  for (const double value : expected) pair.size = std::max(pair.size, std::abs(value));
  return pair;
}

}  // namespace

Evidence same_token_claim(const Experiment& experiment) {
  Evidence evidence{.id = "same-token",
                    .claim = "A token in two slots is one vector without positions, and two with them.",
                    .measured = {},
                    .vectors = {},
                    .verdict = Verdict::kNotShown,
                    .needs = "a token twice, as in: dog bites man, man bites dog"};
  const std::vector<SlotPair> pairs = same_token_pairs(experiment.ids);
  if (pairs.empty()) return evidence;

  const Tensor<float, 3> without = experiment.without_positions(experiment.ids);
  const Tensor<float, 3> with = experiment.with_positions(experiment.ids);
  const auto equal_pairs = [&pairs](const Tensor<float, 3>& x) {
    return static_cast<std::size_t>(std::count_if(pairs.begin(), pairs.end(), [&x](const SlotPair& pair) {
      return differing_bits(x.view()[0][pair.first], x.view()[0][pair.later]) == 0;
    }));
  };
  const std::size_t equal_without = equal_pairs(without);
  const std::size_t equal_with = equal_pairs(with);
  const auto [first, later] = pairs.front();
  evidence.measured = {
      {"equal_to_the_bit_without_positions", Count{equal_without, pairs.size()}, "pairs"},
      {"equal_to_the_bit_with_positions", Count{equal_with, pairs.size()}, "pairs"},
      {"a_token_in_two_slots", Ids{{experiment.ids[first]}}, ""},
      {"its_slots", std::vector<std::uint64_t>{first, later}, ""},
      {"its_difference_without_positions",
       largest_difference<float>(without.view()[0][first], without.view()[0][later]), ""},
      {"its_difference_with_positions", largest_difference<float>(with.view()[0][first], with.view()[0][later]), ""}};
  for (const std::size_t t : {first, later}) {
    evidence.vectors.push_back(named("without P, slot " + std::to_string(t), without.view()[0][t]));
  }
  for (const std::size_t t : {first, later}) {
    evidence.vectors.push_back(named("with P, slot " + std::to_string(t), with.view()[0][t]));
  }
  evidence.verdict = holds_if(equal_without == pairs.size() && equal_with == 0);
  evidence.needs.clear();
  return evidence;
}

Evidence shuffle_claim(const Experiment& experiment) {
  Evidence evidence{.id = "shuffle",
                    .claim = "Another order has the same vectors without positions, and other vectors with them.",
                    .measured = {},
                    .vectors = {},
                    .verdict = Verdict::kNotShown,
                    .needs = kTwoTokens};
  const std::vector<std::size_t> order = another_order(experiment.ids);
  if (order.empty()) return evidence;

  const std::vector<TokenId> ids = reordered(experiment.ids, order);
  const std::size_t T = ids.size();
  const auto common = [](const Tensor<float, 3>& a, const Tensor<float, 3>& b) {
    return common_vectors(a.view()[0], b.view()[0]);
  };
  const std::size_t without = common(experiment.without_positions(experiment.ids), experiment.without_positions(ids));
  const std::size_t with = common(experiment.with_positions(experiment.ids), experiment.with_positions(ids));
  evidence.measured = {{"other_order", Ids{ids}, ""},
                       {"found_again_without_positions", Count{without, T}, "vectors"},
                       {"found_again_with_positions", Count{with, T}, "vectors"}};
  evidence.verdict = holds_if(without == T && with < T);
  evidence.needs.clear();
  return evidence;
}

Evidence attention_claim(const Experiment& experiment) {
  Evidence evidence{
      .id = "attention",
      .claim = "Self-attention gives another order the same outputs, reordered, unless positions are added.",
      .measured = {},
      .vectors = {},
      .verdict = Verdict::kNotShown,
      .needs = kTwoTokens};
  const std::vector<std::size_t> order = another_order(experiment.ids);
  if (order.empty()) return evidence;

  const std::vector<TokenId> ids = reordered(experiment.ids, order);
  const auto attend_to = [&](const Tensor<float, 3>& x, const Tensor<float, 3>& rearranged) {
    return attend(experiment, order, x.view()[0], rearranged.view()[0]);
  };
  const AttentionPair without =
      attend_to(experiment.without_positions(experiment.ids), experiment.without_positions(ids));
  const AttentionPair with = attend_to(experiment.with_positions(experiment.ids), experiment.with_positions(ids));
  evidence.measured = {{"other_order", Ids{ids}, ""},
                       {"largest_output", without.size, ""},
                       {"difference_without_positions", without.difference, ""},
                       {"difference_with_positions", with.difference, ""}};
  const std::size_t slot = order[0];
  const auto show = [&](const AttentionPair& pair, const std::string& name) {
    evidence.vectors.push_back(named(name + ", slot " + std::to_string(slot), pair.original.view()[slot]));
    evidence.vectors.push_back(named(name + ", moved to 0", pair.rearranged.view()[0]));
  };
  show(without, "without P");
  show(with, "with P");
  evidence.verdict = holds_if(without.same() && with.different());
  evidence.needs.clear();
  return evidence;
}

}  // namespace firstlayer
