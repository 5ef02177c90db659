#include "firstlayer/train/network/linear.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "firstlayer/train/network/deal.h"
#include "firstlayer/train/network/packed_features.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {
namespace {

/// Steps of a product after which its sums go back to memory: so many rows of the right operand stay in the first
/// cache.
constexpr std::size_t kBlock = 192;

/// Strips of outputs at most that are made together: each reads the same rows of the right operand.
constexpr std::size_t kGroup = 8;

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

/// Copies `steps` rows of the columns of some strips, each strip to lie for itself: kBlock rows of kStripRows.
void copy_strips(const float* from, std::size_t stride, std::size_t steps, const Strips& strips, std::size_t first,
                 std::size_t end, float* to) {
  for (std::size_t i = 0; i < steps; ++i, from += stride, to += kStripRows) {
    const float* row = from;
    for (std::size_t strip = first; strip < end; ++strip) {
      const std::size_t count = strips.size(strip);
      float* at = to + (strip - first) * kBlock * kStripRows;
      if (count == kStripRows) {
        std::memcpy(at, row, kStripRows * sizeof(float));  // of a known size: no call
      } else {
        std::copy_n(row, count, at);
      }
      row += count;
    }
  }
}

/// Strips [first, end) of the outputs, at most kGroup. `next` is the output at which this thread will probably go on.
void linear_group(const Linear& job, const Strips& strips, std::size_t first, std::size_t end, std::size_t next) {
  const std::size_t K = job.x.features;
  const std::size_t N = job.y.features;
  const std::size_t begin = strips.begin(first);
  const std::size_t count = strips.begin(end) - begin;
  for (std::size_t p = 0; p < job.y.count; ++p) begin_outputs(job, p, begin, count);
  // A strip is a few numbers of every row of the weight, and rows a power of two apart share their place in a cache.
  float copies[kGroup * kBlock * kStripRows];
  for (std::size_t k = 0; k < K; k += kBlock) {
    const std::size_t steps = std::min(kBlock, K - k);
    copy_strips(job.weight + k * N + begin, N, steps, strips, first, end, copies);
    Prefetcher::Rows copied_next = {job.weight + (k + steps) * N + begin, N, std::min(kBlock, K - k - steps), count};
    if (k + steps == K) copied_next = {job.weight + next, N, std::min(kBlock, K), std::min(count, N - next)};
    Prefetcher ahead(copied_next, steps * count * job.x.rows());
    for (std::size_t p = 0; p < job.y.count; ++p) {
      for (std::size_t strip = first; strip < end; ++strip) {
        product({.left = Left::kColumns,
                 .a = copies + (strip - first) * kBlock * kStripRows,
                 .stride = kStripRows,
                 .steps = steps,
                 .b = job.x.panel(p) + k * kPanelRows,
                 .c = job.y.panel(p) + strips.begin(strip) * kPanelRows,
                 .c_stride = kPanelRows,
                 .add = true,
                 .meanwhile = &ahead},
                strips.size(strip));
      }
    }
  }
}

/// Inputs [begin, begin + count).
void input_strip(const LinearInputGradient& job, std::size_t begin, std::size_t count) {
  const std::size_t N = job.dy.features;
  for (std::size_t n = 0; n < N; n += kBlock) {
    const std::size_t steps = std::min(kBlock, N - n);
    for (std::size_t p = 0; p < job.dy.count; ++p) {
      product({.left = Left::kRows,
               .a = job.weight + begin * N + n,
               .stride = N,
               .steps = steps,
               .b = job.dy.panel(p) + n * kPanelRows,
               .c = job.dx.panel(p) + begin * kPanelRows,
               .c_stride = kPanelRows,
               .add = n > 0},
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
  // Smaller groups where threads would otherwise wait for each other.
  const std::size_t group =
      std::clamp<std::size_t>(job.threads == 1 ? kGroup : strips.count / (4 * job.threads), 1, kGroup);
  const std::size_t groups = (strips.count + group - 1) / group;
  deal(groups, job.threads, [&](std::size_t, std::size_t i) {
    const std::size_t first = i * group;
    const std::size_t next = std::min((i + job.threads) * group, strips.count);
    linear_group(job, strips, first, std::min(first + group, strips.count), strips.begin(next));
  });
}

void linear_input_gradient(const LinearInputGradient& job) {
  const Strips strips(job.dx.features);
  deal(strips.count, job.threads,
       [&](std::size_t, std::size_t strip) { input_strip(job, strips.begin(strip), strips.size(strip)); });
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
