#pragma once
// Tables on which a search that is nearly exact would go wrong.

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"

namespace firstlayer::testing {

struct NamedTable {
  std::string name;
  Tensor<float, 2> values;
};

inline Tensor<float, 2> normal_rows(std::size_t rows, std::size_t dim, Generator& generator) {
  Tensor<float, 2> table({rows, dim});
  generator.fill_normal(table.flat());
  return table;
}

inline std::vector<NamedTable> hard_tables(std::size_t rows, std::size_t dim, Generator& generator) {
  std::vector<NamedTable> tables;
  const auto add = [&](const std::string& name, auto change) {
    tables.push_back({name, normal_rows(rows, dim, generator)});
    View<float, 2> table = tables.back().values.view();
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < dim; ++k) change(i, k, table(i, k));
    }
  };
  add("normal", [](std::size_t, std::size_t, float&) {});
  add("one large column", [](std::size_t, std::size_t k, float& value) { value = k == 1 ? value * 40 + 90 : value; });
  add("rows in pairs",
      [](std::size_t i, std::size_t k, float& value) { value = static_cast<float>((i / 2 * 7 + k * 3) % 11) - 5.0F; });
  add("some zero rows", [](std::size_t i, std::size_t, float& value) { value *= i % 3 == 0 ? 0.0F : 1.0F; });
  add("all zero", [](std::size_t, std::size_t, float& value) { value = 0.0F; });
  add("all equal", [](std::size_t, std::size_t, float& value) { value = 0.25F; });
  add("nearly equal", [](std::size_t, std::size_t, float& value) { value = 1.0F + value * 0x1p-22F; });
  add("every size", [](std::size_t i, std::size_t, float& value) {
    value *= i % 4 == 0 ? 1e-42F : i % 4 == 1 ? 1e-20F : i % 4 == 2 ? 1.0F : 1e37F;
  });
  add("the smallest", [](std::size_t, std::size_t, float& value) { value *= 0x1p-147F; });
  add("the largest", [](std::size_t, std::size_t, float& value) {
    value = (value < 0 ? -1.0F : 1.0F) * std::numeric_limits<float>::max();
  });
  return tables;
}

}  // namespace firstlayer::testing
