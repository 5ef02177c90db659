#pragma once
// torch.nn.EmbeddingBag: one vector for several ids, their rows' sum, mean or largest values.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/id_view.h"

namespace firstlayer {

enum class BagMode { kSum, kMean, kMax };

/// Ids in bags: the ids one after the other, and where each bag begins.
class Bags {
 public:
  /// Each row of ids (B, T) is a bag.
  explicit Bags(IdView ids);

  /// Bag b holds ids[offsets[b]] up to ids[offsets[b + 1]], the last bag all that remain; ids of shape (1, N). With
  /// include_last_offset the last offset is the end of the last bag, N. Throws std::invalid_argument naming an offset
  /// and its place if the first one is not 0, one is smaller than the one before or larger than N, or the end is not N.
  Bags(IdView ids, std::span<const std::int64_t> offsets, bool include_last_offset = false);

  std::size_t size() const noexcept { return starts_.size() - 1; }  ///< the number of bags
  const IdView& ids() const noexcept { return ids_; }
  std::span<const std::size_t> starts() const noexcept { return starts_; }  ///< one more than there are bags

 private:
  IdView ids_;
  std::vector<std::size_t> starts_;
};

struct BagOptions {
  BagMode mode = BagMode::kMean;
  /// -V .. V-1: its places are left out of the bag, and out of the number that a mean divides by.
  std::optional<std::int64_t> padding_idx = {};
  /// One for each id, which multiplies its row; empty for none. Of sums alone.
  std::span<const float> per_sample_weights = {};
};

/// out[b] = the sum, mean or largest values of the rows of table (V, d) for bag b; zeros for an empty one; out
/// (bags, d), which does not overlap the table. Rows are added from zero in the order of the ids, a weighted one in one
/// rounding (fused). Throws std::out_of_range naming an id that is no row and its (b, t), or a padding_idx that is
/// none; std::invalid_argument for an `out` of another shape, weights of another number or in another mode. Nothing is
/// written then. On `threads` threads, 0: all; the bits do not depend on it.
void lookup_bags(View<const float, 2> table, const Bags& bags, const BagOptions& options, View<float, 2> out,
                 unsigned threads = 0);

/// The gradient of the table for dout (bags, d), in the order of the ids. In a maximum the first of equal rows gets it;
/// the table must be the one of lookup_bags(). Throws as lookup_bags().
RowGradient bag_gradient(View<const float, 2> table, const Bags& bags, const BagOptions& options,
                         View<const float, 2> dout, unsigned threads = 0);

/// The gradient of per_sample_weights: dweights[i] = dout[bag of i] . table[ids[i]], summed in double and rounded to
/// float; 0 for padding. Throws as lookup_bags(), and for dweights of another number.
void bag_weight_gradient(View<const float, 2> table, const Bags& bags, const BagOptions& options,
                         View<const float, 2> dout, std::span<float> dweights, unsigned threads = 0);

}  // namespace firstlayer
