#include <array>

#include "firstlayer/view/byte_dots.h"

namespace firstlayer::byte_dots {

void run_reference(const Job& job) {
  for (std::size_t q = 0; q < job.count; ++q) {
    const std::int8_t* query = job.queries + q * job.quads * kQuad;
    for (std::size_t block = 0; block < job.blocks; ++block) {
      std::array<std::int32_t, kBlockRows> sums{};
      for (std::size_t quad = 0; quad < job.quads; ++quad) {
        const std::uint8_t* bytes = job.rows + (block * job.quads + quad) * kBlockBytes;
        for (std::size_t r = 0; r < kBlockRows; ++r) {
          for (std::size_t j = 0; j < kQuad; ++j) {
            sums[r] += (static_cast<int>(bytes[r * kQuad + j]) - kZero) * query[quad * kQuad + j];
          }
        }
      }
      for (std::size_t r = 0; r < kBlockRows; ++r) job.out[(q * job.blocks + block) * kBlockRows + r] = sums[r];
    }
  }
}

}  // namespace firstlayer::byte_dots
