#include "firstlayer/lookup/stored_table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/row_kernels.h"
#include "firstlayer/lookup/stored_kernels.h"

namespace firstlayer {
namespace {

template <class Value>
Tensor<Value, 2> converted(View<const float, 2> table) {
  Tensor<Value, 2> values(table.shape());
  std::ranges::transform(table.flat(), values.flat().begin(), [](float value) { return Value(value); });
  return values;
}

Int8Rows quantized(View<const float, 2> table) {
  Int8Rows rows{Tensor<std::int8_t, 2>(table.shape()), std::vector<float>(table.dim(0))};
  for (std::size_t i = 0; i < table.dim(0); ++i) {
    float largest = 0.0F;
    for (const float value : table[i]) {
      if (!std::isfinite(value)) {
        throw_invalid("StoredTable", "finite values to round to 8 bits",
                      std::to_string(value) + " in row " + std::to_string(i));
      }
      largest = std::max(largest, std::abs(value));
    }
    const float scale = rows.scales[i] = largest / 127.0F;
    if (scale == 0.0F) continue;  // the row is zeros, or so small that it becomes zeros
    // nearbyint() rounds as the processor is set to, which is ties to even. A subnormal scale may be too small by half.
    std::ranges::transform(table[i], rows.values.view()[i].begin(), [&](float value) {
      return static_cast<std::int8_t>(std::clamp(std::nearbyint(value / scale), -127.0F, 127.0F));
    });
  }
  return rows;
}

const Shape<2>& shape_of(const Int8Rows& rows) { return rows.values.shape(); }
template <class Value>
const Shape<2>& shape_of(const Tensor<Value, 2>& table) {
  return table.shape();
}

template <class Value>
stored_kernels::Job<Value> job_of(const Tensor<Value, 2>& table, View<const TokenId, 2> ids, View<float, 3> out) {
  return {table, nullptr, ids, out};
}
stored_kernels::Job<std::int8_t> job_of(const Int8Rows& rows, View<const TokenId, 2> ids, View<float, 3> out) {
  return {rows.values, rows.scales.data(), ids, out};
}

}  // namespace

StoredTable::StoredTable(Rows rows) : rows_(std::move(rows)) {
  if (element_count(shape()) == 0) {
    throw_invalid("StoredTable", "a table with rows and columns", shape_text(shape()));
  }
  const Int8Rows* scaled = std::get_if<Int8Rows>(&rows_);
  if (scaled != nullptr && scaled->scales.size() != shape()[0]) {
    throw_invalid("StoredTable", "a scale for each of " + std::to_string(shape()[0]) + " rows",
                  std::to_string(scaled->scales.size()));
  }
}

StoredTable StoredTable::rounded(View<const float, 2> table, Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32: {
      Tensor<float, 2> copy(table.shape());
      std::ranges::copy(table.flat(), copy.flat().begin());
      return StoredTable(std::move(copy));
    }
    case Dtype::kBF16:
      return StoredTable(converted<BFloat16>(table));
    case Dtype::kF16:
      return StoredTable(converted<Float16>(table));
    case Dtype::kI8:
      return StoredTable(quantized(table));
    default:
      throw_invalid("StoredTable", "F32, BF16, F16 or I8", dtype_name(dtype));
  }
}

const Shape<2>& StoredTable::shape() const noexcept {
  return std::visit([](const auto& rows) -> const Shape<2>& { return shape_of(rows); }, rows_);
}

Dtype StoredTable::dtype() const noexcept {
  constexpr Dtype kDtypes[] = {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kI8};  // in the order of Rows
  return kDtypes[rows_.index()];
}

std::size_t StoredTable::bytes() const noexcept {
  const Int8Rows* scaled = std::get_if<Int8Rows>(&rows_);
  return element_count(shape()) * dtype_bytes(dtype()) +
         (scaled == nullptr ? 0 : scaled->scales.size() * sizeof(float));
}

void StoredTable::lookup(IdView ids, View<float, 3> out, unsigned threads) const {
  constexpr std::string_view kWhere = "StoredTable::lookup";
  check_out(kWhere, ids.shape(), shape()[1], out);
  const CheckedIds checked(kWhere, shape(), ids);
  std::visit(
      [&](const auto& rows) {
        if constexpr (std::is_same_v<decltype(rows), const Tensor<float, 2>&>) {
          row_kernels::run({rows, nullptr, checked.view(), out}, threads);
        } else {
          const bool stream = out.size() * sizeof(float) >= row_kernels::kStreamBytes;
          stored_kernels::run(job_of(rows, checked.view(), out), threads, stream);
        }
      },
      rows_);
}

}  // namespace firstlayer
