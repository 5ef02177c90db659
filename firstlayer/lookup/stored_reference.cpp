#include "firstlayer/lookup/stored_kernels.h"

namespace firstlayer::stored_kernels {

template <class Value>
void run_reference(const Job<Value>& job) {
  const auto [B, T, d] = job.out.shape();
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t t = 0; t < T; ++t) {
      const TokenId id = job.ids(b, t);
      for (std::size_t k = 0; k < d; ++k) {
        const auto value = static_cast<float>(job.table(id, k));
        job.out(b, t, k) = job.scales == nullptr ? value : value * job.scales[id];
      }
    }
  }
}

template void run_reference(const Job<BFloat16>& job);
template void run_reference(const Job<Float16>& job);
template void run_reference(const Job<std::int8_t>& job);

}  // namespace firstlayer::stored_kernels
