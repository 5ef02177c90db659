#include <algorithm>
#include <cmath>

#include "firstlayer/train/network/head_kernels.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {

void largest_logits_reference(const LogitTile& tile, float* largest) {
  for (std::size_t v = 0; v < tile.tokens; ++v) {
    for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
      largest[lane] = std::max(largest[lane], tile.logits[v * kPanelRows + lane]);
    }
  }
}

void tile_exponentials_reference(const TileExponentials& job) {
  for (std::size_t v = 0; v < job.tile.tokens; ++v) {
    for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
      float& x = job.tile.logits[v * kPanelRows + lane];
      x = std::exp(x - job.offsets[lane]);
      job.sums[lane] += x;
      if (job.keep == nullptr) continue;
      job.keep[v / kStripRows * job.strip + v % kStripRows * kPanelRows + lane] = x;
    }
  }
}

}  // namespace firstlayer
