#pragma once
// AdamW on a whole table by the plain step: what the lazy one must equal.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/optimizer/adamw_kernels.h"
#include "firstlayer/lookup/optimizer/adamw_step.h"
#include "tests/same_bits.h"

namespace firstlayer::testing {

/// Empty if the bits are equal, all numbers that are none being the same, else the first difference.
inline std::string difference_but_nan(std::span<const float> expected, std::span<const float> received) {
  const auto one_nan = [](std::span<const float> values) {
    std::vector<float> copy(values.begin(), values.end());
    for (float& x : copy) {
      if (std::isnan(x)) x = std::numeric_limits<float>::quiet_NaN();
    }
    return copy;
  };
  return difference(one_nan(expected), one_nan(received));
}

struct DenseAdamW {
  DenseAdamW(const AdamW& options, std::span<const float> table)
      : rule(options), p(table.begin(), table.end()), m(p.size()), v(p.size()) {}

  /// gradient of the whole table.
  void step(double lr, std::span<const float> gradient) {
    const AdamWStep scalars(rule, lr, ++steps);
    adamw_kernels::step_reference(rule, scalars, p.data(), m.data(), v.data(), gradient.data(), p.size());
  }

  /// Compares p, m, v of all rows with a table (V, d) and moments (V, 2, d); empty if they are equal.
  std::string difference_from(std::span<const float> table, std::span<const float> moments, std::size_t dim) const {
    for (std::size_t row = 0; row < p.size() / dim; ++row) {
      const auto check = [&](const char* name, const std::vector<float>& expected, std::span<const float> received) {
        const std::string found = difference_but_nan(std::span(expected).subspan(row * dim, dim), received);
        return found.empty() ? found : std::string(name) + " of row " + std::to_string(row) + " " + found;
      };
      std::string found = check("p", p, table.subspan(row * dim, dim));
      if (found.empty()) found = check("m", m, moments.subspan(2 * row * dim, dim));
      if (found.empty()) found = check("v", v, moments.subspan((2 * row + 1) * dim, dim));
      if (!found.empty()) return found;
    }
    return "";
  }

  AdamWRule rule;
  std::uint64_t steps = 0;
  std::vector<float> p;
  std::vector<float> m;
  std::vector<float> v;
};

}  // namespace firstlayer::testing
