#include "firstlayer/lookup/row_kernels.h"

namespace firstlayer::row_kernels {

void run_reference(const Job& job) {
  const auto [B, T, d] = job.out.shape();
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t t = 0; t < T; ++t) {
      const std::size_t place = b * T + t;
      const std::size_t position = job.position_ids == nullptr ? t : job.position_ids[place];
      for (std::size_t k = 0; k < d; ++k) {
        const float value = job.table(job.ids(b, t), k) * job.scale;
        job.out(b, t, k) = job.positions == nullptr ? value : value + job.positions[position * d + k];
      }
      if (job.finish != nullptr) (*job.finish)(place, job.out[b][t]);
    }
  }
}

}  // namespace firstlayer::row_kernels
