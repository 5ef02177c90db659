#include "firstlayer/train/network/panels.h"

#include <algorithm>

#include "firstlayer/base/threads.h"

namespace firstlayer {

void rows_to_panels(const float* rows, std::size_t count, Panels panels, unsigned threads) {
  parallel_for(panels.count, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t first = p * kPanelRows;
      const std::size_t here = std::min(kPanelRows, count - std::min(count, first));
      for (std::size_t f = 0; f < panels.features; ++f) {
        float* lanes = panels.panel(p) + f * kPanelRows;
        for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
          lanes[lane] = lane < here ? rows[(first + lane) * panels.features + f] : 0.0F;
        }
      }
    }
  });
}

void panels_to_rows(ConstPanels panels, std::size_t count, float* rows, unsigned threads) {
  parallel_for(panels.count, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin * kPanelRows; row < std::min(count, end * kPanelRows); ++row) {
      for (std::size_t f = 0; f < panels.features; ++f) rows[row * panels.features + f] = panels(row, f);
    }
  });
}

void clear_rows_from(std::size_t count, Panels panels) {
  if (count >= panels.rows()) return;
  const std::size_t first = count % kPanelRows;
  for (std::size_t p = count / kPanelRows; p < panels.count; ++p) {
    for (std::size_t f = 0; f < panels.features; ++f) {
      float* lanes = panels.panel(p) + f * kPanelRows;
      std::fill(lanes + (p == count / kPanelRows ? first : 0), lanes + kPanelRows, 0.0F);
    }
  }
}

}  // namespace firstlayer
