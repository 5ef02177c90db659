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

void sum_batch_reference(View<const float, 3> dout, float* dpositions) {
  const auto [B, T, d] = dout.shape();
  const Cascade cascade(B);
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t k = 0; k < d; ++k) {
      std::array<float, Cascade::kLevels> sums{};
      for (std::size_t b = 0; b < B; ++b) {
        sums[0] += dout(b, t, k);
        if (((b + 1) & ((std::size_t{1} << cascade.bits) - 1)) != 0) continue;
        for (std::size_t level = 0; level < cascade.carries(b + 1); ++level) {
          sums[level + 1] += sums[level];
          sums[level] = 0.0F;
        }
      }
      dpositions[t * d + k] = ((sums[0] + sums[1]) + sums[2]) + sums[3];
    }
  }
}

}  // namespace firstlayer::gradient_kernels
