#include "firstlayer/lookup/position/sinusoidal.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

constexpr double kLongest = 10000;  // the last wavelength, in units of 2 pi

/// kLongest^(-2i / span) for i < count.
std::vector<double> frequencies(std::size_t count, std::size_t span) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = std::pow(kLongest, -2.0 * static_cast<double>(i) / static_cast<double>(span));
  }
  return result;
}

void fill_interleaved(View<float, 2> table) {
  const std::size_t dim = table.dim(1);
  const std::vector<double> waves = frequencies((dim + 1) / 2, dim);
  for (std::size_t t = 0; t < table.dim(0); ++t) {
    for (std::size_t column = 0; column < dim; ++column) {
      const double angle = static_cast<double>(t) * waves[column / 2];
      table(t, column) = static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
}

/// The last column of an odd width is left as it is, 0.
void fill_halves(View<float, 2> table) {
  const std::size_t half = table.dim(1) / 2;
  const std::vector<double> waves = frequencies(half, 2 * (std::max<std::size_t>(half, 2) - 1));
  for (std::size_t t = 0; t < table.dim(0); ++t) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(t) * waves[i];
      table(t, i) = static_cast<float>(std::sin(angle));
      table(t, half + i) = static_cast<float>(std::cos(angle));
    }
  }
}

}  // namespace

Tensor<float, 2> sinusoidal_table(std::size_t context, std::size_t dim, SinusoidalLayout layout) {
  if (context == 0 || dim == 0) {
    throw_invalid("sinusoidal_table", "context and d of at least 1",
                  "context = " + std::to_string(context) + ", d = " + std::to_string(dim));
  }
  Tensor<float, 2> table({context, dim});
  if (layout == SinusoidalLayout::kInterleaved) {
    fill_interleaved(table);
  } else {
    fill_halves(table);
  }
  return table;
}

}  // namespace firstlayer
