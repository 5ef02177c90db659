#include "firstlayer/view/byte_dots.h"

#include <vector>

namespace firstlayer::byte_dots {
namespace {

std::vector<Kernel> kernels_here() {
  std::vector<Kernel> here;
  if (has_vnni()) here.push_back({"vnni", run_vnni, kByteLimit});
  if (has_avx2()) here.push_back({"avx2", run_avx2, kPairLimit});
  here.push_back({"reference", run_reference, kByteLimit});
  return here;
}

}  // namespace

std::span<const Kernel> kernels() {
  static const std::vector<Kernel> here = kernels_here();
  return here;
}

}  // namespace firstlayer::byte_dots
