#include "firstlayer/lookup/embedding_bag.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/row_groups.h"
#include "firstlayer/lookup/weighted_sum.h"

namespace firstlayer {
namespace {

/// What every function here is given, once it is known to fit.
class CheckedBags {
 public:
  CheckedBags(std::string_view where, const Shape<2>& table, const Bags& bags, const BagOptions& options,
              const Shape<2>& vectors)
      : bags_(bags),
        options_(options),
        padding_(check_padding(where, options.padding_idx, table[0])),
        checked_(where, table, bags.ids()) {
    if (vectors != Shape<2>{bags.size(), table[1]}) {
      throw_invalid(
          where,
          "a vector of width d for each bag, (" + std::to_string(bags.size()) + ", " + std::to_string(table[1]) + ")",
          shape_text(vectors));
    }
    if (options.per_sample_weights.empty()) return;
    if (options.mode != BagMode::kSum) {
      throw_invalid(where, "per_sample_weights of sums alone",
                    options.mode == BagMode::kMean ? "mode mean" : "mode max");
    }
    if (options.per_sample_weights.size() != ids().size()) {
      throw_invalid(where, "a weight for each of " + std::to_string(ids().size()) + " ids",
                    std::to_string(options.per_sample_weights.size()));
    }
  }

  View<const TokenId, 2> batch() const { return checked_.view(); }
  std::span<const TokenId> ids() const { return checked_.view().flat(); }
  std::optional<TokenId> padding() const { return padding_; }
  bool weighted() const { return !options_.per_sample_weights.empty(); }

  /// Calls use(place) for the places of bag b that are no padding, in their order.
  template <class Use>
  void visit(std::size_t b, Use use) const {
    for (std::size_t place = bags_.starts()[b]; place < bags_.starts()[b + 1]; ++place) {
      if (ids()[place] != padding_) use(place);
    }
  }

  std::size_t count(std::size_t b) const {
    std::size_t count = 0;
    visit(b, [&](std::size_t) { ++count; });
    return count;
  }

 private:
  const Bags& bags_;
  const BagOptions& options_;
  std::optional<TokenId> padding_;
  CheckedIds checked_;
};

/// Columns [begin, begin + largest.size()) of bag b: the largest value of each and its place, the first of equal ones.
/// False if the bag is empty.
bool find_maxima(const CheckedBags& bags, View<const float, 2> table, std::size_t b, std::size_t begin,
                 std::span<float> largest, std::span<std::size_t> places) {
  bool empty = true;
  bags.visit(b, [&](std::size_t place) {
    const std::span<const float> row = table[bags.ids()[place]].subspan(begin, largest.size());
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool larger = empty || row[k] > largest[k];
      largest[k] = larger ? row[k] : largest[k];
      places[k] = larger ? place : places[k];
    }
    empty = false;
  });
  return !empty;
}

}  // namespace

Bags::Bags(IdView ids) : ids_(ids), starts_(ids.dim(0) + 1) {
  for (std::size_t b = 0; b < starts_.size(); ++b) starts_[b] = b * ids.dim(1);
}

Bags::Bags(IdView ids, std::span<const std::int64_t> offsets, bool include_last_offset) : ids_(ids) {
  constexpr std::string_view kWhere = "Bags";
  if (ids.dim(0) != 1) throw_invalid(kWhere, "ids of shape (1, N) with offsets", shape_text(ids.shape()));
  const std::size_t count = ids.dim(1);
  const auto received = [&](std::size_t i) { return std::to_string(offsets[i]) + " at " + std::to_string(i); };
  if (offsets.empty() && (include_last_offset || count > 0)) {
    throw_invalid(kWhere, "offsets that begin with 0 for " + std::to_string(count) + " ids", "none");
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (i == 0 && offsets[0] != 0) throw_invalid(kWhere, "offsets that begin with 0", received(0));
    if (i > 0 && offsets[i] < offsets[i - 1]) {
      throw_invalid(kWhere, "offsets that do not go backwards",
                    received(i) + " after " + std::to_string(offsets[i - 1]));
    }
    if (static_cast<std::size_t>(offsets[i]) > count) {
      throw_invalid(kWhere, "offsets of at most N = " + std::to_string(count) + ", the number of ids", received(i));
    }
  }
  starts_.assign(offsets.begin(), offsets.end());
  if (!include_last_offset) {
    starts_.push_back(count);
  } else if (starts_.back() != count) {
    throw_invalid(kWhere, "a last offset of N = " + std::to_string(count) + ", the number of ids",
                  received(offsets.size() - 1));
  }
  if (size() > std::numeric_limits<std::uint32_t>::max()) {
    throw_invalid(kWhere, "fewer than 2^32 bags", std::to_string(size()));
  }
}

void lookup_bags(View<const float, 2> table, const Bags& bags, const BagOptions& options, View<float, 2> out,
                 unsigned threads) {
  const CheckedBags checked("lookup_bags", table.shape(), bags, options, out.shape());
  parallel_for(bags.size(), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> rows;
    std::vector<float> weights;
    std::vector<std::size_t> places(out.dim(1));
    for (std::size_t b = begin; b < end; ++b) {
      const std::span<float> vector = out[b];
      if (options.mode == BagMode::kMax) {
        if (!find_maxima(checked, table, b, 0, vector, places)) std::ranges::fill(vector, 0.0F);
        continue;
      }
      rows.clear();
      weights.clear();
      checked.visit(b, [&](std::size_t place) {
        rows.push_back(checked.ids()[place]);
        if (checked.weighted()) weights.push_back(options.per_sample_weights[place]);
      });
      weighted_sum::sum(table.data(), vector.size(), rows, weights, vector.data());
      if (options.mode == BagMode::kMean && !rows.empty()) {
        for (float& value : vector) value /= static_cast<float>(rows.size());
      }
    }
  });
}

namespace {

/// rows[u] = the sum over the places of group u of dout[their bag], times the weight or 1 / count of a mean.
void sum_gradient(const CheckedBags& checked, const Bags& bags, const BagOptions& options, View<const float, 2> dout,
                  const RowGroups& groups, View<float, 2> rows, unsigned threads) {
  std::vector<std::uint32_t> bag_of(checked.ids().size());
  std::vector<float> weight_of;
  if (checked.weighted()) weight_of.assign(options.per_sample_weights.begin(), options.per_sample_weights.end());
  if (options.mode == BagMode::kMean) weight_of.resize(bag_of.size());
  for (std::size_t b = 0; b < bags.size(); ++b) {
    const auto share = static_cast<float>(1.0 / static_cast<double>(checked.count(b)));
    checked.visit(b, [&](std::size_t place) {
      bag_of[place] = static_cast<std::uint32_t>(b);
      if (options.mode == BagMode::kMean) weight_of[place] = share;
    });
  }
  parallel_for(groups.size(), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> indices;
    std::vector<float> weights;
    for (std::size_t u = begin; u < end; ++u) {
      indices.clear();
      weights.clear();
      for (const std::uint32_t place : groups.places().subspan(groups.starts()[u], groups.count(u))) {
        indices.push_back(bag_of[place]);
        if (!weight_of.empty()) weights.push_back(weight_of[place]);
      }
      weighted_sum::sum(dout.data(), dout.dim(1), indices, weights, rows[u].data());
    }
  });
}

/// rows[u][k] = the sum of dout[b][k] over the bags whose largest value of column k comes from group u.
void max_gradient(const CheckedBags& checked, const Bags& bags, View<const float, 2> table, View<const float, 2> dout,
                  const RowGroups& groups, View<float, 2> rows, unsigned threads) {
  std::vector<std::size_t> group_of(checked.ids().size());
  for (std::size_t u = 0; u < groups.size(); ++u) {
    for (const std::uint32_t place : groups.places().subspan(groups.starts()[u], groups.count(u))) group_of[place] = u;
  }
  std::ranges::fill(rows.flat(), 0.0F);
  parallel_for(table.dim(1), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> largest(end - begin);
    std::vector<std::size_t> places(end - begin);
    for (std::size_t b = 0; b < bags.size(); ++b) {
      if (!find_maxima(checked, table, b, begin, largest, places)) continue;
      for (std::size_t k = begin; k < end; ++k) rows(group_of[places[k - begin]], k) += dout(b, k);
    }
  });
}

}  // namespace

RowGradient bag_gradient(View<const float, 2> table, const Bags& bags, const BagOptions& options,
                         View<const float, 2> dout, unsigned threads) {
  const CheckedBags checked("bag_gradient", table.shape(), bags, options, dout.shape());
  const RowGroups groups(checked.batch(), table.dim(0), checked.padding());
  RowGradient gradient;
  gradient.assign(groups.ids(), table.dim(1));
  if (options.mode == BagMode::kMax) {
    max_gradient(checked, bags, table, dout, groups, gradient.rows(), threads);
  } else {
    sum_gradient(checked, bags, options, dout, groups, gradient.rows(), threads);
  }
  return gradient;
}

void bag_weight_gradient(View<const float, 2> table, const Bags& bags, const BagOptions& options,
                         View<const float, 2> dout, std::span<float> dweights, unsigned threads) {
  constexpr std::string_view kWhere = "bag_weight_gradient";
  const CheckedBags checked(kWhere, table.shape(), bags, options, dout.shape());
  if (dweights.size() != checked.ids().size() || !checked.weighted()) {
    throw_invalid(kWhere, "weights and gradients for each of " + std::to_string(checked.ids().size()) + " ids",
                  std::to_string(options.per_sample_weights.size()) + " and " + std::to_string(dweights.size()));
  }
  std::ranges::fill(dweights, 0.0F);
  parallel_for(bags.size(), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      checked.visit(b, [&](std::size_t place) {
        const std::span<const float> row = table[checked.ids()[place]];
        double product = 0.0;
        for (std::size_t k = 0; k < row.size(); ++k) product += static_cast<double>(row[k]) * dout(b, k);
        dweights[place] = static_cast<float>(product);
      });
    }
  });
}

}  // namespace firstlayer
