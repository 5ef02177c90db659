// The head in two passes over the table, as flash attention goes over keys: the first has each tile of logits once, in
// the cache, and takes from it the loss, the gradient of the rows, and its exponentials, which are final but for a
// factor for each row; the second turns those into the table's gradient. Only two products of the three that a plain
// head needs wait for the loss.

#include "firstlayer/train/network/head_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "firstlayer/base/threads.h"
#include "firstlayer/train/network/deal.h"
#include "firstlayer/train/network/head_kernels.h"
#include "firstlayer/train/network/packed_features.h"

namespace firstlayer {
namespace {

/// Tokens in a tile of logits: the tile, and as many rows of the table, stay in the cache.
constexpr std::size_t kTile = 16 * kStripRows;
std::size_t tile_tokens(std::size_t d) { return d > 256 ? kTile / 2 : kTile; }

/// A later logit may be larger by so much than what was taken off, before that has to move. exp(40) leaves a sum of
/// any length far from the ends of float.
constexpr float kRoom = 40.0F;

/// Where the exponentials of a strip lie: [strip][panel][kStripRows][32].
float* kept_strip(const HeadLoss& job, std::size_t strip, std::size_t panel) {
  return job.exponentials + (strip * job.x.count + panel) * kStripRows * kPanelRows;
}

/// `ahead` may ask for memory meanwhile, or is nullptr.
void tile_logits(ConstPanels x, const float* weight, std::size_t panel, std::size_t token, const LogitTile& tile,
                 Prefetcher* ahead) {
  product({.left = Left::kRows,
           .a = weight + token * x.features,
           .stride = x.features,
           .steps = x.features,
           .b = x.panel(panel),
           .c = tile.logits,
           .c_stride = kPanelRows,
           .add = false,
           .meanwhile = ahead},
          tile.tokens);
}

/// One panel of rows on its way over the table.
class PanelLoss {
 public:
  PanelLoss(const HeadLoss& job, std::size_t panel) : job_(job), panel_(panel) {}

  void add_tile(std::size_t token, std::size_t tokens, Prefetcher* ahead);
  void finish();

 private:
  /// What has been taken off the logits, and the sums of exponentials so far: job_'s results are their memory.
  float* references() const { return job_.factors + panel_ * kPanelRows; }
  float* sums() const { return job_.log_sums + panel_ * kPanelRows; }

  void note_targets(std::size_t token, const LogitTile& tile);
  void move_references(std::size_t token, const float* largest);

  const HeadLoss& job_;
  std::size_t panel_;
};

void PanelLoss::add_tile(std::size_t token, std::size_t tokens, Prefetcher* ahead) {
  alignas(64) float logits[kTile * kPanelRows];
  const LogitTile tile = {logits, tokens};
  tile_logits(job_.x, job_.weight, panel_, token, tile, ahead);
  note_targets(token, tile);
  float largest[kPanelRows];
  std::fill(largest, largest + kPanelRows, -std::numeric_limits<float>::infinity());
  largest_logits(tile, largest);
  if (token == 0) {
    std::copy(largest, largest + kPanelRows, references());
    std::fill(sums(), sums() + kPanelRows, 0.0F);
  } else {
    move_references(token, largest);
  }
  const bool gradient = job_.dx.data != nullptr;
  float* keep = gradient && job_.exponentials != nullptr ? kept_strip(job_, token / kStripRows, panel_) : nullptr;
  tile_exponentials({tile, references(), sums(), keep, job_.x.count * kStripRows * kPanelRows});
  if (!gradient) return;
  product({.left = Left::kColumns,
           .a = job_.weight + token * job_.x.features,
           .stride = job_.x.features,
           .steps = tokens,
           .b = logits,
           .c = job_.dx.panel(panel_),
           .c_stride = kPanelRows,
           .add = token > 0},
          job_.x.features);
}

void PanelLoss::note_targets(std::size_t token, const LogitTile& tile) {
  for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
    const std::size_t row = panel_ * kPanelRows + lane;
    const std::int64_t place = job_.targets[row] - static_cast<std::int64_t>(token);
    if (job_.targets[row] == kNoTarget) {
      job_.target_logits[row] = 0;
    } else if (place >= 0 && place < static_cast<std::int64_t>(tile.tokens)) {
      job_.target_logits[row] = tile.logits[static_cast<std::size_t>(place) * kPanelRows + lane];
    }
  }
}

/// Takes more off where a logit asks for it, from what was computed before `token`, too. In training this is rare.
void PanelLoss::move_references(std::size_t token, const float* largest) {
  for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
    float& reference = references()[lane];
    if (!(largest[lane] > reference + kRoom)) continue;
    const float factor = std::exp(reference - largest[lane]);
    reference = largest[lane];
    sums()[lane] *= factor;
    if (job_.dx.data == nullptr) continue;
    for (std::size_t f = 0; f < job_.x.features; ++f) job_.dx.panel(panel_)[f * kPanelRows + lane] *= factor;
    if (job_.exponentials == nullptr) continue;
    for (std::size_t v = 0; v < token; ++v) {
      kept_strip(job_, v / kStripRows, panel_)[v % kStripRows * kPanelRows + lane] *= factor;
    }
  }
}

void PanelLoss::finish() {
  float factors[kPanelRows];
  for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
    const float sum = sums()[lane];
    const bool has_target = job_.targets[panel_ * kPanelRows + lane] != kNoTarget;
    factors[lane] = has_target ? job_.gradient_scale / sum : 0.0F;
    sums()[lane] = references()[lane] + std::log(sum);
  }
  std::copy(factors, factors + kPanelRows, references());
  if (job_.dx.data == nullptr) return;
  for (std::size_t f = 0; f < job_.x.features; ++f) {
    float* dx = job_.dx.panel(panel_) + f * kPanelRows;
    for (std::size_t lane = 0; lane < kPanelRows; ++lane) dx[lane] *= factors[lane];
  }
  for (std::size_t lane = 0; lane < kPanelRows; ++lane) {
    const std::int64_t target = job_.targets[panel_ * kPanelRows + lane];
    if (target == kNoTarget) continue;
    const float* weight = job_.weight + static_cast<std::size_t>(target) * job_.x.features;
    float* dx = job_.dx.panel(panel_) + lane;
    for (std::size_t f = 0; f < job_.x.features; ++f) dx[f * kPanelRows] -= job_.gradient_scale * weight[f];
  }
}

/// The second pass: the gradient of one strip of tokens.
class StripGradient {
 public:
  StripGradient(const HeadWeightGradient& job, std::size_t slot, std::size_t strip)
      : job_(job),
        first_(strip * kStripRows),
        tokens_(std::min(kStripRows, job.forward.vocabulary - first_)),
        exponentials_(job.forward.exponentials != nullptr ? kept_strip(job.forward, strip, 0) : compute(slot)) {
    const HeadLoss& forward = job.forward;
    const std::size_t next = strip + forward.threads;  // what this thread will read next, if all are as fast
    if (forward.exponentials == nullptr || next * kStripRows >= forward.vocabulary) return;
    const std::size_t size = kStripRows * forward.x.rows();
    ahead_ = Prefetcher({kept_strip(forward, next, 0), size, 1, size}, size * forward.x.features);
  }

  void give() {
    const std::size_t d = job_.forward.x.features;
    for (std::size_t column = 0; column < d; column += kChunk) give_columns(column, std::min(kChunk, d - column));
  }

 private:
  const float* compute(std::size_t slot) const;
  void give_columns(std::size_t column, std::size_t width);

  const HeadWeightGradient& job_;
  std::size_t first_;
  std::size_t tokens_;
  const float* exponentials_;  ///< [panel][kStripRows][32]
  Prefetcher ahead_;
};

/// The exponentials once more, where the first pass did not keep them: softmax itself, from the sums it found.
const float* StripGradient::compute(std::size_t slot) const {
  const HeadLoss& forward = job_.forward;
  float* all = forward.scratch + slot * head_scratch(forward.x.rows());
  for (std::size_t p = 0; p < forward.x.count; ++p) {
    const LogitTile tile = {all + p * kStripRows * kPanelRows, tokens_};
    tile_logits(forward.x, forward.weight, p, first_, tile, nullptr);
    float sums[kPanelRows] = {};
    tile_exponentials({tile, forward.log_sums + p * kPanelRows, sums, nullptr, 0});
  }
  return all;
}

void StripGradient::give_columns(std::size_t column, std::size_t width) {
  const HeadLoss& forward = job_.forward;
  const std::size_t rows = forward.x.rows();
  alignas(64) float sums[kStripRows * kChunk];
  for (std::size_t f = 0; f < width; f += kPanelRows) {
    product({.left = Left::kPanels,
             .a = exponentials_,
             .stride = kStripRows * kPanelRows,
             .steps = rows,
             .b = job_.packed + (column + f) * rows,
             .c = sums + f,
             .c_stride = kChunk,
             .add = false,
             .lanes = std::min(kPanelRows, width - f),
             .meanwhile = &ahead_},
            tokens_);
  }
  const auto target_of = [&](std::uint32_t row) { return forward.targets[row]; };
  auto target = std::ranges::lower_bound(job_.order, static_cast<std::int64_t>(first_), {}, target_of);
  const std::span<const TokenId> ids = job_.more == nullptr ? std::span<const TokenId>() : job_.more->ids();
  auto id = std::ranges::lower_bound(ids, first_);
  for (std::size_t i = 0; i < tokens_; ++i) {
    float* row = sums + i * kChunk;
    for (; target != job_.order.end() && target_of(*target) == static_cast<std::int64_t>(first_ + i); ++target) {
      for (std::size_t f = 0; f < width; ++f) row[f] -= forward.gradient_scale * forward.x(*target, column + f);
    }
    if (id != ids.end() && *id == first_ + i) {
      const std::span<const float> more = job_.more->rows()[static_cast<std::size_t>(id++ - ids.begin())];
      for (std::size_t f = 0; f < width; ++f) row[f] += more[column + f];
    }
    job_.sink->take(job_.tensor, (first_ + i) * forward.x.features + column, {row, width});
  }
}

}  // namespace

void head_loss(const HeadLoss& job) {
  const std::size_t step = tile_tokens(job.x.features);
  // A thread takes its panels over the whole table together, so that it reads the table once.
  parallel_for(job.threads, job.threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t from = job.x.count * begin / job.threads;
    const std::size_t to = job.x.count * end / job.threads;
    for (std::size_t token = 0; token < job.vocabulary && from < to; token += step) {
      const std::size_t tokens = std::min(step, job.vocabulary - token);
      // The first panel brings the rows of the table into the cache, a strip before they are multiplied.
      const std::size_t d = job.x.features;
      const std::size_t next = std::min(token + kStripRows, job.vocabulary);
      Prefetcher ahead({job.weight + next * d, d, std::min(tokens, job.vocabulary - next), d}, tokens * d * kPanelRows);
      for (std::size_t p = from; p < to; ++p) PanelLoss(job, p).add_tile(token, tokens, p == from ? &ahead : nullptr);
    }
    for (std::size_t p = from; p < to; ++p) PanelLoss(job, p).finish();
  });
}

void head_weight_gradient(const HeadWeightGradient& job) {
  const HeadLoss& forward = job.forward;
  // Computed once more, they are softmax itself.
  const bool kept = forward.exponentials != nullptr;
  if (!kept) {
    for (std::size_t r = 0; r < forward.x.rows(); ++r) {
      forward.factors[r] = forward.targets[r] == kNoTarget ? 0.0F : forward.gradient_scale;
    }
  }
  pack_features(forward.x, forward.factors, job.packed, forward.threads);
  for (std::size_t r = 0; r < job.order.size(); ++r) job.order[r] = static_cast<std::uint32_t>(r);
  std::ranges::sort(job.order, [&](std::uint32_t a, std::uint32_t b) {
    return forward.targets[a] != forward.targets[b] ? forward.targets[a] < forward.targets[b] : a < b;
  });
  const std::size_t strips = (forward.vocabulary + kStripRows - 1) / kStripRows;
  deal(strips, forward.threads, [&](std::size_t slot, std::size_t strip) { StripGradient(job, slot, strip).give(); });
}

void head_logits(const HeadLogits& job) {
  deal(job.x.count, job.threads, [&](std::size_t, std::size_t p) {
    alignas(64) float logits[kTile * kPanelRows];
    const std::size_t rows = std::min(kPanelRows, job.count - p * kPanelRows);
    for (std::size_t token = 0; token < job.vocabulary; token += kTile) {
      const LogitTile tile = {logits, std::min(kTile, job.vocabulary - token)};
      tile_logits(job.x, job.weight, p, token, tile, nullptr);
      transpose({logits, kPanelRows, job.logits + p * kPanelRows * job.vocabulary + token, job.vocabulary}, tile.tokens,
                rows);
    }
  });
}

}  // namespace firstlayer
