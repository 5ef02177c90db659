#include "firstlayer/lookup/row_kernels.h"

namespace firstlayer::row_kernels {

void run_reference(const Job& job) {
  const auto [B, T, d] = job.out.shape();
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t k = 0; k < d; ++k) {
        const float value = job.table(job.ids(b, t), k);
        job.out(b, t, k) = job.positions == nullptr ? value : value + job.positions[t * d + k];
      }
    }
  }
}

}  // namespace firstlayer::row_kernels
