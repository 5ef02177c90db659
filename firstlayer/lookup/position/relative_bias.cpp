#include "firstlayer/lookup/position/relative_bias.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/position/check_scores.h"

namespace firstlayer {
namespace {

/// What the buckets of one direction are.
struct Direction {
  std::uint64_t count;
  std::uint64_t exact;  ///< distances below have a bucket of their own
};

Direction checked_direction(const RelativeBuckets& buckets) {
  const std::size_t directions = buckets.bidirectional ? 2 : 1;
  const std::size_t count = buckets.count / directions;
  // Up to 32 bits, double tells any two numbers of buckets apart.
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (count < 2 || buckets.count > kMost || buckets.count % directions != 0) {
    throw_invalid(
        "relative_bucket",
        buckets.bidirectional ? "an even number of 4 to 2^32 - 1 buckets for two directions" : "2 to 2^32 - 1 buckets",
        std::to_string(buckets.count));
  }
  if (buckets.max_distance <= count / 2) {
    throw_invalid("relative_bucket",
                  "a max_distance above " + std::to_string(count / 2) + ", the distances with a bucket of their own",
                  std::to_string(buckets.max_distance));
  }
  return {count, count / 2};
}

std::size_t bucket_of(std::int64_t key_minus_query, const RelativeBuckets& buckets, const Direction& direction) {
  const bool after = key_minus_query > 0;
  if (after && !buckets.bidirectional) return 0;
  // Unsigned, for the most negative integer has no positive twin.
  const auto bits = static_cast<std::uint64_t>(key_minus_query);
  const std::uint64_t distance = after ? bits : 0 - bits;
  const std::size_t first = after ? direction.count : 0;
  if (distance < direction.exact) return first + distance;

  const auto exact = static_cast<double>(direction.exact);
  const double share =
      std::log(static_cast<double>(distance) / exact) / std::log(static_cast<double>(buckets.max_distance) / exact);
  // Where a bucket begins at a whole distance, the last bit of a logarithm must not decide.
  constexpr double kSlack = 1e-12;
  const double beyond = share * static_cast<double>(direction.count - direction.exact) + kSlack;
  const double last = static_cast<double>(direction.count - 1 - direction.exact);
  return first + direction.exact + static_cast<std::size_t>(std::min(beyond, last));
}

/// use(q, j, bucket) for each query and key, in that order.
template <class Use>
void for_each_bucket(std::size_t queries, std::size_t keys, const RelativeBuckets& buckets, const Use& use) {
  const Direction direction = checked_direction(buckets);
  std::vector<std::size_t> bucket_of_distance(queries + keys - 1);  // from -(keys - 1) to queries - 1
  for (std::size_t i = 0; i < bucket_of_distance.size(); ++i) {
    const auto distance = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(keys - 1);
    bucket_of_distance[i] = bucket_of(distance, buckets, direction);
  }
  for (std::size_t q = 0; q < queries; ++q) {
    for (std::size_t j = 0; j < keys; ++j) use(q, j, bucket_of_distance[j + queries - 1 - q]);
  }
}

}  // namespace

std::size_t relative_bucket(std::int64_t key_minus_query, const RelativeBuckets& buckets) {
  return bucket_of(key_minus_query, buckets, checked_direction(buckets));
}

Tensor<float, 3> relative_bias(View<const float, 2> table, std::size_t queries, std::size_t keys,
                               const RelativeBuckets& buckets) {
  const std::size_t heads = table.dim(1);
  if (table.dim(0) != buckets.count) {
    throw_invalid("relative_bias", "a table (buckets, heads) of " + std::to_string(buckets.count) + " rows",
                  shape_text(table.shape()));
  }
  check_scores("relative_bias", heads, queries, keys);
  Tensor<float, 3> bias({heads, queries, keys});
  const View<float, 3> out = bias.view();
  for_each_bucket(queries, keys, buckets, [&](std::size_t q, std::size_t j, std::size_t bucket) {
    for (std::size_t h = 0; h < heads; ++h) out(h, q, j) = table(bucket, h);
  });
  return bias;
}

Tensor<float, 2> relative_bias_gradient(View<const float, 3> dbias, const RelativeBuckets& buckets) {
  const std::size_t heads = dbias.dim(0);
  check_scores("relative_bias_gradient", heads, dbias.dim(1), dbias.dim(2));
  Tensor<float, 2> gradient({buckets.count, heads});
  const View<float, 2> dtable = gradient.view();
  for_each_bucket(dbias.dim(1), dbias.dim(2), buckets, [&](std::size_t q, std::size_t j, std::size_t bucket) {
    for (std::size_t h = 0; h < heads; ++h) dtable(bucket, h) += dbias(h, q, j);
  });
  return gradient;
}

}  // namespace firstlayer
