#include "firstlayer/train/network/linear.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "firstlayer/train/network/deal.h"
#include "firstlayer/train/network/packed_features.h"
#include "firstlayer/train/network/product.h"
#include "hwy/cache_control.h"

namespace firstlayer {
namespace {

/// Steps of a product after which its sums go back to memory: so many rows of the right operand stay in the first
/// cache.
constexpr std::size_t kBlock = 384;

/// What the products are added to.
void begin_outputs(const Linear& job, std::size_t panel, std::size_t begin, std::size_t count) {
  for (std::size_t n = begin; n < begin + count; ++n) {
    float* y = job.y.panel(panel) + n * kPanelRows;
    std::fill(y, y + kPanelRows, job.bias[n]);
  }
  if (job.residual.data == nullptr) return;
  const float* residual = job.residual.panel(panel) + begin * kPanelRows;
  float* y = job.y.panel(panel) + begin * kPanelRows;
  for (std::size_t i = 0; i < count * kPanelRows; ++i) y[i] += residual[i];
}

/// Copies `steps` rows of `count` numbers, which lie far apart, to lie side by side.
void copy_strip(const float* from, std::size_t stride, std::size_t steps, std::size_t count, float* to) {
  constexpr std::size_t kAhead = 16;  // rows, each from a place that no processor foresees
  for (std::size_t i = 0; i < steps; ++i, from += stride, to += kStripRows) {
    hwy::Prefetch(from + std::min(kAhead, steps - 1 - i) * stride);
    if (count == kStripRows) {
      std::memcpy(to, from, kStripRows * sizeof(float));  // of a known size: no call
    } else {
      std::copy_n(from, count, to);
    }
  }
}

/// Outputs [begin, begin + count).
void linear_strip(const Linear& job, std::size_t begin, std::size_t count) {
  const std::size_t K = job.x.features;
  const std::size_t N = job.y.features;
  for (std::size_t p = 0; p < job.y.count; ++p) begin_outputs(job, p, begin, count);
  // A strip is a few numbers of every row of the weight, and rows a power of two apart share their place in a cache.
  float strip[kBlock * kStripRows];
  for (std::size_t k = 0; k < K; k += kBlock) {
    const std::size_t steps = std::min(kBlock, K - k);
    copy_strip(job.weight + k * N + begin, N, steps, count, strip);
    for (std::size_t p = 0; p < job.y.count; ++p) {
      product({.left = Left::kColumns,
               .a = strip,
               .stride = kStripRows,
               .steps = steps,
               .b = job.x.panel(p) + k * kPanelRows,
               .c = job.y.panel(p) + begin * kPanelRows,
               .c_stride = kPanelRows,
               .add = true},
              count);
    }
  }
}

/// Inputs [begin, begin + count). `next_begin` are the inputs that this thread will probably come to next.
void input_strip(const LinearInputGradient& job, std::size_t begin, std::size_t count, std::size_t next_begin) {
  const std::size_t N = job.dy.features;
  for (std::size_t n = 0; n < N; n += kBlock) {
    const float* next = job.weight + (n + kBlock < N ? begin * N + n + kBlock : next_begin * N);
    for (std::size_t p = 0; p < job.dy.count; ++p) {
      product({.left = Left::kRows,
               .a = job.weight + begin * N + n,
               .stride = N,
               .steps = std::min(kBlock, N - n),
               .b = job.dy.panel(p) + n * kPanelRows,
               .c = job.dx.panel(p) + begin * kPanelRows,
               .c_stride = kPanelRows,
               .add = n > 0,
               .next = p == 0 ? next : nullptr},
              count);
    }
  }
}

/// Columns [column, column + width) of rows [begin, begin + count) of dW.
void weight_strip(const LinearWeightGradient& job, std::size_t column, std::size_t width, std::size_t begin,
                  std::size_t count) {
  alignas(64) float sums[kStripRows * kChunk];
  for (std::size_t n = 0; n < width; n += kPanelRows) {
    product({.left = Left::kPanels,
             .a = job.x.data + begin * kPanelRows,
             .stride = job.x.features * kPanelRows,
             .steps = job.x.rows(),
             .b = job.scratch + (column + n) * job.x.rows(),
             .c = sums + n,
             .c_stride = kChunk,
             .add = false,
             .lanes = std::min(kPanelRows, width - n)},
            count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    job.sink->take(job.weight_tensor, (begin + i) * job.dy.features + column, {sums + i * kChunk, width});
  }
}

/// The sums over all rows of outputs [begin, begin + count), at most kChunk.
void bias_part(const LinearWeightGradient& job, std::size_t begin, std::size_t count) {
  float sums[kChunk];
  for (std::size_t i = 0; i < count; ++i) {
    float lanes[kPanelRows] = {};
    for (std::size_t p = 0; p < job.dy.count; ++p) {
      const float* rows = job.dy.panel(p) + (begin + i) * kPanelRows;
      for (std::size_t lane = 0; lane < kPanelRows; ++lane) lanes[lane] += rows[lane];
    }
    sums[i] = 0;
    for (const float lane : lanes) sums[i] += lane;
  }
  job.sink->take(job.bias_tensor, begin, {sums, count});
}

}  // namespace

void linear(const Linear& job) {
  const Strips strips(job.y.features);
  deal(strips.count, job.threads,
       [&](std::size_t, std::size_t strip) { linear_strip(job, strips.begin(strip), strips.size(strip)); });
}

void linear_input_gradient(const LinearInputGradient& job) {
  const Strips strips(job.dx.features);
  deal(strips.count, job.threads, [&](std::size_t, std::size_t strip) {
    const std::size_t next = std::min(strip + job.threads, strips.count - 1);
    input_strip(job, strips.begin(strip), strips.size(strip), strips.begin(next));
  });
}

void linear_weight_gradient(const LinearWeightGradient& job) {
  const std::size_t N = job.dy.features;
  pack_features(job.dy, nullptr, job.scratch, job.threads);
  const Strips strips(job.x.features);
  const std::size_t chunks = (N + kChunk - 1) / kChunk;
  // Chunk by chunk, for all strips read a chunk of the right operand.
  deal(chunks * strips.count, job.threads, [&](std::size_t, std::size_t i) {
    const std::size_t column = i / strips.count * kChunk;
    const std::size_t strip = i % strips.count;
    weight_strip(job, column, std::min(kChunk, N - column), strips.begin(strip), strips.size(strip));
  });
  deal(chunks, job.threads,
       [&](std::size_t, std::size_t chunk) { bias_part(job, chunk * kChunk, std::min(kChunk, N - chunk * kChunk)); });
}

}  // namespace firstlayer
