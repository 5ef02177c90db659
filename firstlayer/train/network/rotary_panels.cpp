#include "firstlayer/train/network/rotary_panels.h"

#include "firstlayer/base/threads.h"

namespace firstlayer {
namespace {

/// Turns by `sign` times the angles. A head is as wide as two numbers for each angle.
void turn(const RotaryTable& table, std::size_t length, float sign, Panels qkv, unsigned threads) {
  const View<const float, 2> cosines = table.cosines();
  const View<const float, 2> sines = table.sines();
  const std::size_t pairs = cosines.dim(1);
  const std::size_t queries_and_keys = 2 * (qkv.features / 3);
  parallel_for(qkv.count, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      for (std::size_t i = 0; i < pairs; ++i) {
        float cosine[kPanelRows];
        float sine[kPanelRows];
        for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
          const std::size_t position = (p * kPanelRows + lane) % length;
          cosine[lane] = cosines(position, i);
          sine[lane] = sign * sines(position, i);
        }
        for (std::size_t head = 0; head < queries_and_keys; head += 2 * pairs) {
          float* first = qkv.panel(p) + (head + i) * kPanelRows;
          float* second = first + pairs * kPanelRows;
          for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
            const float a = first[lane];
            const float b = second[lane];
            first[lane] = a * cosine[lane] - b * sine[lane];
            second[lane] = b * cosine[lane] + a * sine[lane];
          }
        }
      }
    }
  });
}

}  // namespace

void rotate_queries_and_keys(const RotaryTable& table, std::size_t length, Panels qkv, unsigned threads) {
  turn(table, length, 1.0F, qkv, threads);
}

void rotate_gradient_back(const RotaryTable& table, std::size_t length, Panels dqkv, unsigned threads) {
  turn(table, length, -1.0F, dqkv, threads);
}

}  // namespace firstlayer
