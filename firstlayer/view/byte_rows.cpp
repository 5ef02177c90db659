#include "firstlayer/view/byte_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/view/byte_round.h"
#include "firstlayer/view/exact_sums.h"

namespace firstlayer {
namespace {

using byte_dots::kBlockBytes;
using byte_dots::kBlockRows;
using byte_dots::kQuad;

// Bounds are made of numbers of at most 1 in eight steps of float32, each off by 2^-24 of that at most, and exact
// scores are sums of at most 2^17 terms in float64, off by 2^-36. This share of all sizes is more than both together.
constexpr double kShare = 0x1p-19;

std::size_t divided_up(std::size_t count, std::size_t by) { return (count + by - 1) / by; }

/// A vector in bytes with its lengths.
struct Rounded {
  double scale;
  double error;  ///< |x - rounded x|
  double size;   ///< |rounded x|
};

Rounded round_vector(std::span<const float> x, int limit, std::span<std::int8_t> bytes, std::vector<float>& rounded) {
  rounded.resize(x.size());
  const float scale = round_to_bytes(x, limit, bytes, rounded);
  return {static_cast<double>(scale), std::sqrt(exact_sums::squared_distance(x, rounded)),
          std::sqrt(exact_sums::dot(rounded, rounded))};
}

}  // namespace

float rounded_up(double value) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (std::isinf(value)) return static_cast<float>(value);
  if (value > static_cast<double>(kMost)) return std::numeric_limits<float>::infinity();
  if (value < -static_cast<double>(kMost)) return -kMost;
  const auto near = static_cast<float>(value);
  return static_cast<double>(near) < value ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

float rounded_down(double value) { return -rounded_up(-value); }

void check_all_finite(std::string_view where, std::string_view name, View<const float, 2> values) {
  const auto [rows, columns] = values.shape();
  const std::span<const float> all = values.flat();
  const auto bad = std::find_if(all.begin(), all.end(), [](float value) { return !std::isfinite(value); });
  if (bad == all.end()) return;
  const auto place = static_cast<std::size_t>(bad - all.begin());
  throw_invalid(where, "finite numbers",
                std::to_string(*bad) + " at " + std::string(name) + "[" + std::to_string(place / columns) + ", " +
                    std::to_string(place % columns) + "]");
}

ByteRows::ByteRows(View<const float, 2> table, Metric metric, unsigned threads)
    : table_(table),
      metric_(metric),
      quads_(divided_up(table.shape()[1], kQuad)),
      blocks_(divided_up(table.shape()[0], kBlockRows)) {
  constexpr const char* kWhere = "NeighborTable";
  const auto [V, d] = table.shape();
  if (V == 0 || d == 0 || V > std::numeric_limits<TokenId>::max()) {
    throw_invalid(kWhere, "a table (V, d) of 1 to 4294967295 rows", shape_text(table.shape()));
  }
  if (d > byte_dots::kWidest) {
    throw_invalid(kWhere, "rows of at most " + std::to_string(byte_dots::kWidest) + " numbers",
                  shape_text(table.shape()));
  }
  measure(threads);
  bytes_ = Tensor<std::uint8_t, 1>({blocks_ * quads_ * kBlockBytes});
  for (std::vector<float>* each : {&scale_, &error_, &size_, &offset_}) each->resize(blocks_ * kBlockRows);
  parallel_for(blocks_, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end; ++index) round_block(index);
  });
}

void ByteRows::measure(unsigned threads) {
  norms_.resize(table_.shape()[0]);
  parallel_for(norms_.size(), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) norms_[i] = std::sqrt(exact_sums::dot(table_[i], table_[i]));
  });
  // Sums of finite floats are finite in float64.
  if (!std::all_of(norms_.begin(), norms_.end(), [](double norm) { return std::isfinite(norm); })) {
    check_all_finite("NeighborTable", "table", table_);
  }
  const double largest = *std::max_element(norms_.begin(), norms_.end());
  if (metric_ != Metric::kCosine && largest > 0) unit_ = largest;
}

void ByteRows::round_block(std::size_t block) {
  const auto [V, d] = table_.shape();
  std::vector<std::int8_t> bytes(quads_ * kQuad);
  std::vector<float> rounded;
  std::uint8_t* out = bytes_.flat().data() + block * quads_ * kBlockBytes;
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    std::fill(bytes.begin(), bytes.end(), std::int8_t{0});
    const std::size_t row = block * kBlockRows + r;
    if (row < V) {
      const Rounded of_row = round_vector(table_[row], byte_dots::kByteLimit, std::span(bytes).first(d), rounded);
      const double norm = norms_[row];
      const double unit = metric_ == Metric::kCosine ? (norm > 0 ? norm : 1.0) : unit_;
      scale_[row] = static_cast<float>(of_row.scale / unit);
      size_[row] = rounded_up(of_row.size / unit * (1 + kShare));
      error_[row] = rounded_up((of_row.error + kShare * (of_row.size + of_row.error)) / unit);
      const double length = norm / unit;
      offset_[row] = metric_ == Metric::kL2 ? rounded_up(-length * length / 2 * (1 - kShare)) : 0.0F;
    }
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      out[k / kQuad * kBlockBytes + r * kQuad + k % kQuad] = static_cast<std::uint8_t>(bytes[k] + byte_dots::kZero);
    }
  }
}

RowRange ByteRows::rows_of(std::size_t first, std::size_t last) const {
  const std::size_t row = first * kBlockRows;
  const std::size_t end = std::min(last * kBlockRows, table_.shape()[0]);
  return {{scale_.data() + row, error_.data() + row, size_.data() + row, offset_.data() + row},
          static_cast<TokenId>(row),
          end - row};
}

ByteQueries::ByteQueries(View<const float, 2> queries, const ByteRows& rows)
    : queries_(queries),
      kernel_(byte_dots::kernels().front()),
      quads_(rows.quads()),
      norms_(queries.shape()[0]),
      units_(queries.shape()[0]),
      factors_(queries.shape()[0]),
      bytes_(queries.shape()[0] * quads_ * kQuad),
      zero_shares_(queries.shape()[0]) {
  const std::size_t d = queries.shape()[1];
  std::vector<float> rounded;
  for (std::size_t q = 0; q < count(); ++q) {
    const std::span<std::int8_t> bytes = std::span(bytes_).subspan(q * quads_ * kQuad, d);
    const Rounded of_query = round_vector(queries_[q], kernel_.query_limit, bytes, rounded);
    zero_shares_[q] = byte_dots::kZero * std::accumulate(bytes.begin(), bytes.end(), 0);
    norms_[q] = std::sqrt(exact_sums::dot(queries_[q], queries_[q]));
    const double unit = rows.metric() == Metric::kL2 ? std::max(norms_[q], rows.unit()) : norms_[q];
    units_[q] = unit > 0 ? unit : 1.0;
    factors_[q] = {.scale = static_cast<float>(of_query.scale / units_[q]),
                   .size = rounded_up(norms_[q] / units_[q]),
                   .error = rounded_up(of_query.error / units_[q]),
                   .offset = rounded_up(rows.unit() / units_[q])};
  }
}

void ByteQueries::multiply(std::size_t first, std::size_t count, const ByteRows& rows, std::size_t block,
                           std::size_t blocks, std::int32_t* out) const {
  kernel_.run({.rows = rows.block(block),
               .blocks = blocks,
               .quads = quads_,
               .queries = bytes_.data() + first * quads_ * kQuad,
               .zero_shares = zero_shares_.data() + first,
               .count = count,
               .out = out});
}

}  // namespace firstlayer
