// Attention in tiles of 32 keys by 32 queries, as flash attention goes over them (Dao et al., 2022): what a tile needs
// of the others is two numbers for each query.

#include "firstlayer/train/network/causal_attention.h"

#include <algorithm>
#include <cmath>

#include "firstlayer/train/network/attention_kernels.h"
#include "firstlayer/train/network/deal.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {
namespace {

/// Calls body(tile, lane, panel, its lane, count) for the stretches that lie together in a tile and in a panel.
template <class Body>
void for_stretches(std::size_t first_row, std::size_t count, const Body& body) {
  for (std::size_t t = 0; t < count;) {
    const std::size_t row = first_row + t;
    const std::size_t here = std::min({count - t, kPanelRows - t % kPanelRows, kPanelRows - row % kPanelRows});
    body(t / kPanelRows, t % kPanelRows, row / kPanelRows, row % kPanelRows, here);
    t += here;
  }
}

/// The numbers of one head for the places of one row of the batch: [tile of 32 places][feature][32]. A row of the batch
/// may begin anywhere in a panel, its tiles do not.
struct HeadTiles {
  float* data;
  std::size_t count;  ///< tiles
  std::size_t width;  ///< features of a head

  float* tile(std::size_t i) const { return data + i * width * kPanelRows; }
  std::size_t size() const { return count * width * kPanelRows; }
  void clear() const { std::fill(data, data + size(), 0.0F); }

  void gather(ConstPanels from, std::size_t feature, std::size_t row, std::size_t places) const {
    clear();  // places that fill up the last tile
    for_stretches(row, places, [&](auto i, auto lane, auto panel, auto panel_lane, auto here) {
      for (std::size_t f = 0; f < width; ++f) {
        const float* lanes = from.panel(panel) + (feature + f) * kPanelRows + panel_lane;
        std::copy(lanes, lanes + here, tile(i) + f * kPanelRows + lane);
      }
    });
  }

  void scatter(Panels to, std::size_t feature, std::size_t row, std::size_t places) const {
    for_stretches(row, places, [&](auto i, auto lane, auto panel, auto panel_lane, auto here) {
      for (std::size_t f = 0; f < width; ++f) {
        const float* lanes = tile(i) + f * kPanelRows + lane;
        std::copy(lanes, lanes + here, to.panel(panel) + (feature + f) * kPanelRows + panel_lane);
      }
    });
  }
};

/// out (32 keys, 32) = the features of a tile, for each of its places, times b (features, 32).
void by_places(const float* tile, std::size_t width, const float* b, float* out) {
  product({.left = Left::kColumns,
           .a = tile,
           .stride = kPanelRows,
           .steps = width,
           .b = b,
           .c = out,
           .c_stride = kPanelRows,
           .add = false},
          kPanelRows);
}

/// out (features, 32) += the places of a tile, for each of its features, times b (32 places, 32).
void by_features(const float* tile, std::size_t width, const float* b, float* out) {
  product({.left = Left::kPanels,
           .a = tile,
           .stride = 0,
           .steps = kPanelRows,
           .b = b,
           .c = out,
           .c_stride = kPanelRows,
           .add = true},
          width);
}

/// One head of one row of the batch.
class Head {
 public:
  Head(const CausalAttention& job, std::size_t slot, std::size_t b, std::size_t head)
      : job_(job),
        head_(head),
        width_(job.out.features / job.heads),
        tiles_(panels_for(job.length)),
        row_(b * job.length),
        log_sums_(job.log_sums + (b * job.heads + head) * job.length),
        scratch_(job.scratch + slot * causal_attention_scratch(job.length, width_)),
        queries_(gather(job.qkv, 0)),
        keys_(gather(job.qkv, job.out.features)),
        values_(gather(job.qkv, 2 * job.out.features)) {}

  void forward();
  void backward(ConstPanels dout, Panels dqkv);

 private:
  HeadTiles take() {
    const HeadTiles tiles = {scratch_, tiles_, width_};
    scratch_ += tiles.size();
    return tiles;
  }

  HeadTiles gather(ConstPanels from, std::size_t section) {
    const HeadTiles tiles = take();
    tiles.gather(from, section + head_ * width_, row_, job_.length);
    return tiles;
  }

  ScoreRule rule(std::size_t query_tile, std::size_t key_tile) const {
    return {1 / std::sqrt(static_cast<float>(width_)), job_.slopes == nullptr ? 0.0F : job_.slopes[head_],
            -static_cast<float>((query_tile - key_tile) * kPanelRows)};
  }

  void forward_tile(std::size_t i, float* out);

  const CausalAttention& job_;
  std::size_t head_;
  std::size_t width_;
  std::size_t tiles_;
  std::size_t row_;
  float* log_sums_;
  float* scratch_;
  HeadTiles queries_;
  HeadTiles keys_;
  HeadTiles values_;
};

void Head::forward() {
  const HeadTiles out = take();
  out.clear();
  for (std::size_t i = 0; i < tiles_; ++i) forward_tile(i, out.tile(i));
  out.scatter(job_.out, head_ * width_, row_, job_.length);
}

void Head::forward_tile(std::size_t i, float* out) {
  alignas(64) float tile[kTileFloats];
  float largest[kPanelRows];
  float sums[kPanelRows] = {};
  float factors[kPanelRows];
  std::fill(largest, largest + kPanelRows, -1e30F);
  for (std::size_t j = 0; j <= i; ++j) {
    by_places(keys_.tile(j), width_, queries_.tile(i), tile);
    softmax_tile({tile, rule(i, j), largest, sums, factors});
    for (std::size_t k = 0; k < width_ * kPanelRows; ++k) out[k] *= factors[k % kPanelRows];
    by_features(values_.tile(j), width_, tile, out);
  }
  for (std::size_t k = 0; k < width_ * kPanelRows; ++k) out[k] /= sums[k % kPanelRows];
  for (std::size_t lane = 0; lane < std::min(kPanelRows, job_.length - i * kPanelRows); ++lane) {
    log_sums_[i * kPanelRows + lane] = largest[lane] + std::log(sums[lane]);
  }
}

void Head::backward(ConstPanels dout_panels, Panels dqkv) {
  const HeadTiles out = gather(job_.out, 0);
  const HeadTiles dout = gather(dout_panels, 0);
  const HeadTiles dqueries = take();
  const HeadTiles dkeys = take();
  const HeadTiles dvalues = take();
  for (const HeadTiles& sums : {dqueries, dkeys, dvalues}) sums.clear();

  alignas(64) float shares[kTileFloats];
  alignas(64) float gradients[kTileFloats];
  alignas(64) float turned[kTileFloats];
  for (std::size_t i = 0; i < tiles_; ++i) {
    float log_sums[kPanelRows] = {};
    const std::size_t here = std::min(kPanelRows, job_.length - i * kPanelRows);
    std::copy(log_sums_ + i * kPanelRows, log_sums_ + i * kPanelRows + here, log_sums);
    float means[kPanelRows] = {};
    for (std::size_t k = 0; k < width_ * kPanelRows; ++k) means[k % kPanelRows] += out.tile(i)[k] * dout.tile(i)[k];
    for (std::size_t j = 0; j <= i; ++j) {
      by_places(keys_.tile(j), width_, queries_.tile(i), shares);
      by_places(values_.tile(j), width_, dout.tile(i), gradients);
      softmax_gradient_tile({shares, gradients, rule(i, j), log_sums, means});
      by_features(keys_.tile(j), width_, gradients, dqueries.tile(i));
      transpose({gradients, kPanelRows, turned, kPanelRows}, kPanelRows, kPanelRows);
      by_features(queries_.tile(i), width_, turned, dkeys.tile(j));
      transpose({shares, kPanelRows, turned, kPanelRows}, kPanelRows, kPanelRows);
      by_features(dout.tile(i), width_, turned, dvalues.tile(j));
    }
  }
  const std::size_t d = job_.out.features;
  dqueries.scatter(dqkv, head_ * width_, row_, job_.length);
  dkeys.scatter(dqkv, d + head_ * width_, row_, job_.length);
  dvalues.scatter(dqkv, 2 * d + head_ * width_, row_, job_.length);
}

}  // namespace

void causal_attention(const CausalAttention& job) {
  deal(job.batch * job.heads, job.threads,
       [&](std::size_t slot, std::size_t i) { Head(job, slot, i / job.heads, i % job.heads).forward(); });
  clear_rows_from(job.batch * job.length, job.out);
}

void causal_attention_gradient(const CausalAttentionGradient& job) {
  const CausalAttention& forward = job.forward;
  deal(forward.batch * forward.heads, forward.threads, [&](std::size_t slot, std::size_t i) {
    Head(forward, slot, i / forward.heads, i % forward.heads).backward(job.dout, job.dqkv);
  });
  clear_rows_from(forward.batch * forward.length, job.dqkv);
}

}  // namespace firstlayer
