#include <array>
#include <bit>

#include "firstlayer/base/half.h"
#include "firstlayer/lookup/gradient_kernels.h"

namespace firstlayer::gradient_kernels {

Cascade::Cascade(std::size_t count) : bits(4) {
  const auto log2 = static_cast<std::size_t>(std::bit_width(count - (count == 0 ? 0 : 1)));  // rounded up
  if (log2 / kLevels > bits) bits = log2 / kLevels;
}

std::size_t Cascade::carries(std::size_t done) const {
  const std::size_t mask = (std::size_t{1} << bits) - 1;
  std::size_t level = 1;
  while (level + 1 < kLevels && (done & mask << level * bits) == 0) ++level;
  return level;
}

template <class Element>
void sum_groups_reference(const RowGroups& groups, const Element* dout, std::size_t dim, float* rows) {
  for (std::size_t u = 0; u < groups.size(); ++u) {
    for (std::size_t k = 0; k < dim; ++k) {
      float sum = 0.0F;
      for (std::size_t i = groups.starts()[u]; i < groups.starts()[u + 1]; ++i)
        sum += static_cast<float>(dout[groups.places()[i] * dim + k]);
      rows[u * dim + k] = sum;
    }
  }
}

template void sum_groups_reference(const RowGroups&, const float*, std::size_t, float*);
template void sum_groups_reference(const RowGroups&, const BFloat16*, std::size_t, float*);
template void sum_groups_reference(const RowGroups&, const Float16*, std::size_t, float*);

namespace {

/// The sum of `count` numbers, `step` apart, block by block.
float cascaded_sum(const float* from, std::size_t count, std::size_t step) {
  const Cascade cascade(count);
  std::array<float, Cascade::kLevels> sums{};
  for (std::size_t i = 0; i < count; ++i) {
    sums[0] += from[i * step];
    if (!cascade.ends_block(i + 1)) continue;
    for (std::size_t level = 0; level < cascade.carries(i + 1); ++level) {
      sums[level + 1] += sums[level];
      sums[level] = 0.0F;
    }
  }
  return ((sums[0] + sums[1]) + sums[2]) + sums[3];
}

/// The same numbers as four interleaved sums.
float interleaved_sum(const float* from, std::size_t count, std::size_t step) {
  constexpr std::size_t kParts = 4;
  std::array<float, kParts> sums;
  for (std::size_t part = 0; part < kParts; ++part) {
    sums[part] = cascaded_sum(from + part * step, count / kParts, kParts * step);
  }
  for (std::size_t i = count / kParts * kParts; i < count; ++i) sums[0] += from[i * step];
  return ((sums[0] + sums[1]) + sums[2]) + sums[3];
}

}  // namespace

float column_sum(const float* dout, std::size_t batch, std::size_t columns, std::size_t c) {
  return (c < blocked_columns(columns) ? cascaded_sum : interleaved_sum)(dout + c, batch, columns);
}

void sum_batch_reference(const float* dout, std::size_t batch, std::size_t columns, float* sums) {
  for (std::size_t c = 0; c < columns; ++c) sums[c] = column_sum(dout, batch, columns, c);
}

}  // namespace firstlayer::gradient_kernels
