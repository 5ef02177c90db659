#include "firstlayer/train/network/product.h"

namespace firstlayer {

void product_reference(const Product& job, std::size_t rows) {
  const auto left = [&](std::size_t i, std::size_t k) {
    if (job.left == Left::kRows) return job.a[i * job.stride + k];
    if (job.left == Left::kColumns) return job.a[k * job.stride + i];
    return job.a[k / kPanelRows * job.stride + i * kPanelRows + k % kPanelRows];
  };
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < job.lanes; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < job.steps; ++k) sum += left(i, k) * job.b[k * kPanelRows + j];
      float& c = job.c[i * job.c_stride + j];
      c = job.add ? c + sum : sum;
    }
  }
}

void transpose_reference(const Transpose& job, std::size_t rows, std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) job.to[j * job.to_stride + i] = job.from[i * job.from_stride + j];
  }
}

}  // namespace firstlayer
