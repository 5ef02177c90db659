#include "firstlayer/lookup/normalize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"

namespace firstlayer {
namespace {

/// The mean of value(k) over k < count, with eight sums side by side.
template <class Value>
double mean_of(std::size_t count, Value value) {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  const std::size_t whole = count / kSums * kSums;
  for (std::size_t k = 0; k < whole; k += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) sums[j] += value(k + j);
  }
  for (std::size_t k = whole; k < count; ++k) sums[k - whole] += value(k);
  return (((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))) /
         static_cast<double>(count);
}

/// What a row is moved and multiplied by.
struct Moments {
  double mean;     ///< 0 for RMS norm
  double inverse;  ///< of the deviation
};

Moments moments_of(const Normalization& normalization, std::span<const float> x) {
  double mean = 0.0;
  if (normalization.kind == Normalization::Kind::kLayer) mean = mean_of(x.size(), [&](std::size_t k) { return x[k]; });
  const double square = mean_of(x.size(), [&](std::size_t k) { return (x[k] - mean) * (x[k] - mean); });
  return {mean, 1.0 / std::sqrt(square + normalization.eps)};
}

void check_shapes(std::string_view where, const Shape<3>& x, const Shape<3>& other) {
  if (other != x) throw_invalid(where, "tensors of one shape " + shape_text(x), shape_text(other));
}

}  // namespace

void check_normalization(std::string_view where, const Normalization& normalization) {
  if (!(normalization.eps >= 0.0 && std::isfinite(normalization.eps))) {
    throw_invalid(where, "a finite eps of 0 or more", std::to_string(normalization.eps));
  }
}

void normalize_row(const Normalization& normalization, std::span<float> row) {
  const Moments moments = moments_of(normalization, row);
  for (float& value : row) value = static_cast<float>((value - moments.mean) * moments.inverse);
}

void normalize(const Normalization& normalization, View<const float, 3> x, View<float, 3> out, unsigned threads) {
  check_normalization("normalize", normalization);
  check_shapes("normalize", x.shape(), out.shape());
  const auto [B, T, d] = x.shape();
  const View<const float, 2> from(x.flat(), {B * T, d});
  const View<float, 2> to(out.flat(), {B * T, d});
  parallel_for(from.dim(0), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      if (to.data() != from.data()) std::ranges::copy(from[row], to[row].begin());
      normalize_row(normalization, to[row]);
    }
  });
}

// With y = (x - mean) * inverse: dx = inverse * (dout - mean(dout) - y * mean(dout * y)); RMS norm has no mean(dout).
void normalize_gradient(const Normalization& normalization, View<const float, 3> x, View<const float, 3> dout,
                        View<float, 3> dx, unsigned threads) {
  check_normalization("normalize_gradient", normalization);
  check_shapes("normalize_gradient", x.shape(), dout.shape());
  check_shapes("normalize_gradient", x.shape(), dx.shape());
  const auto [B, T, d] = x.shape();
  const Shape<2> rows = {B * T, d};
  const View<const float, 2> values(x.flat(), rows);
  const View<const float, 2> gradients(dout.flat(), rows);
  const View<float, 2> results(dx.flat(), rows);
  parallel_for(rows[0], threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::span<const float> from = values[row];
      const std::span<const float> gradient = gradients[row];
      const Moments moments = moments_of(normalization, from);
      const auto y = [&](std::size_t k) { return (from[k] - moments.mean) * moments.inverse; };
      const bool layer = normalization.kind == Normalization::Kind::kLayer;
      const double mean = layer ? mean_of(from.size(), [&](std::size_t k) { return gradient[k]; }) : 0.0;
      const double slope = mean_of(from.size(), [&](std::size_t k) { return gradient[k] * y(k); });
      for (std::size_t k = 0; k < from.size(); ++k) {
        results(row, k) = static_cast<float>(moments.inverse * (gradient[k] - mean - y(k) * slope));
      }
    }
  });
}

}  // namespace firstlayer
