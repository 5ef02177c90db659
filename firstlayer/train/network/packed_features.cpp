#include "firstlayer/train/network/packed_features.h"

#include <algorithm>

#include "firstlayer/train/network/deal.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {

void pack_features(ConstPanels from, const float* factors, float* packed, unsigned threads) {
  deal(panels_for(from.features), threads, [&](std::size_t, std::size_t block) {
    const std::size_t first = block * kPanelRows;
    const std::size_t here = std::min(kPanelRows, from.features - first);
    for (std::size_t p = 0; p < from.count; ++p) {
      float* to = packed + (block * from.rows() + p * kPanelRows) * kPanelRows;
      if (here < kPanelRows) std::fill(to, to + kPanelRows * kPanelRows, 0.0F);
      transpose({from.panel(p) + first * kPanelRows, kPanelRows, to, kPanelRows}, here, kPanelRows);
      if (factors == nullptr) continue;
      for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
        const float factor = factors[p * kPanelRows + lane];
        for (std::size_t f = 0; f < kPanelRows; ++f) to[lane * kPanelRows + f] *= factor;
      }
    }
  });
}

}  // namespace firstlayer
