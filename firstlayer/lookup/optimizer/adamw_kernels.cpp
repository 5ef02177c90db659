// AdamW's steps on vectors. docs/optimizers.md has what each part of it gains.

#include "firstlayer/lookup/optimizer/adamw_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/group_pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/lookup/optimizer/adamw_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "firstlayer/lookup/batch_sum-inl.h"
#include "firstlayer/lookup/group_sum-inl.h"
#include "firstlayer/lookup/optimizer/non_finite-inl.h"
#include "hwy/highway.h"
#if HWY_NATIVE_FMA
#include "firstlayer/lookup/optimizer/adamw_catch_up-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace firstlayer::adamw_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace groups_of = firstlayer::HWY_NAMESPACE;

#if HWY_NATIVE_FMA

/// What fetches row `next`, if there is one that needs it, during `steps` steps of a row.
HWY_INLINE RowFetcher fetcher_of(const Rows& rows, const Part& part, std::size_t next, std::size_t steps,
                                 std::uint64_t taken) {
  if (next >= part.to) return {};
  const std::size_t row = part.row(next);
  if (rows.taken[row] == taken) return {};
  const std::size_t four_vectors = std::max<std::size_t>(1, rows.dim / hn::Lanes(Floats()) / 4);
  return {rows.table + row * rows.dim, rows.moments + 2 * row * rows.dim, rows.dim, steps * four_vectors};
}

void catch_up_part(const Rows& rows, const AdamWRule& rule, const Missed& missed, const Part& part) {
  const std::uint64_t now = missed.first + missed.steps.size();
  for (std::size_t i = part.from; i < part.to; ++i) {
    const std::size_t row = part.row(i);
    const auto steps = missed.steps.subspan(rows.taken[row] - missed.first);
    RowFetcher fetcher = fetcher_of(rows, part, i + 1, steps.size(), now);
    if (!steps.empty()) {
      const RowKind kind = rows.kinds[row].load(std::memory_order_relaxed);
      const auto take = rule.weight_decay != 0 ? row_steps<true> : row_steps<false>;
      take(kind, rule, steps, rows.table + row * rows.dim, rows.moments + 2 * row * rows.dim, rows.dim, fetcher);
      rows.taken[row] = now;
    }
    fetcher.rest();
  }
}

/// The scalars of a step, to be copied where stores through float* cannot change them.
struct StepScalars {
  StepScalars(const AdamWRule& rule, const AdamWStep& step)
      : gain1(rule.gain1),
        gain2(rule.gain2),
        decay2(rule.decay2),
        eps(rule.eps),
        rate(step.rate),
        decay(step.decay),
        root2(step.root2) {}

  float gain1;
  float gain2;
  float decay2;
  float eps;
  float rate;
  float decay;
  ExactQuotient root2;
};

/// One step of the numbers from p, m, v on with gradient g; false if they are no longer usual.
template <class Tag>
HWY_INLINE bool take_step(Tag df, const StepScalars& step, hn::Vec<Tag> g, float* HWY_RESTRICT p, float* HWY_RESTRICT m,
                          float* HWY_RESTRICT v) {
  const auto old_m = hn::LoadU(df, m);
  const auto new_m = hn::MulAdd(hn::Set(df, step.gain1), hn::Sub(g, old_m), old_m);
  const auto old_v = hn::Mul(hn::LoadU(df, v), hn::Set(df, step.decay2));
  const auto new_v = hn::MulAdd(hn::Mul(hn::Set(df, step.gain2), g), g, old_v);
  const bool usual =
      hn::AllTrue(df, hn::And(hn::Lt(new_v, hn::Set(df, 0x1p80F)), hn::Lt(hn::Abs(new_m), hn::Set(df, 0x1p60F))));
  auto root = hn::Sqrt(new_v);
  if (HWY_LIKELY(usual && step.root2.found)) {
    root = hn::MulAdd(root, hn::Set(df, step.root2.high), hn::Mul(root, hn::Set(df, step.root2.low)));
  } else {
    root = hn::Div(root, hn::Set(df, step.root2.divisor));
  }
  const auto update = hn::Div(hn::Mul(hn::Set(df, step.rate), new_m), hn::Add(root, hn::Set(df, step.eps)));
  hn::StoreU(new_m, df, m);
  hn::StoreU(new_v, df, v);
  hn::StoreU(hn::Add(hn::Mul(hn::LoadU(df, p), hn::Set(df, step.decay)), update), df, p);
  return usual;
}

#else

void catch_up_part(const Rows& rows, const AdamWRule& rule, const Missed& missed, const Part& part) {
  for (std::size_t i = part.from; i < part.to; ++i) {
    const std::size_t row = part.row(i);
    float* m = rows.moments + 2 * row * rows.dim;
    for (const AdamWStep& step : missed.steps.subspan(rows.taken[row] - missed.first)) {
      step_reference(rule, step, rows.table + row * rows.dim, m, m + rows.dim, nullptr, rows.dim);
    }
    rows.taken[row] = missed.first + missed.steps.size();
  }
}

struct StepScalars {
  StepScalars(const AdamWRule& all_steps, const AdamWStep& one) : rule(all_steps), step(one) {}

  const AdamWRule& rule;
  const AdamWStep& step;
};

template <class Tag>
HWY_INLINE bool take_step(Tag df, const StepScalars& scalars, hn::Vec<Tag> g, float* p, float* m, float* v) {
  HWY_ALIGN float gradient[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(g, df, gradient);
  step_reference(scalars.rule, scalars.step, p, m, v, gradient, hn::Lanes(df));
  return true;  // only the ways above have to know
}

#endif  // HWY_NATIVE_FMA

template <class Tag>
HWY_INLINE hn::Vec<Tag> gradient_taken(Tag df, const Rows& rows, std::size_t row, std::size_t k, hn::Vec<Tag> g) {
  return rows.non_finite == nullptr ? g : groups_of::finite_or_zero(df, *rows.non_finite, row, k, g);
}

void step_group_parts(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, const RowGroups& groups,
                      const GroupPieces& pieces, const float* dout, const float* dtable, std::size_t from,
                      std::size_t to) {
  const std::size_t dim = rows.dim;
  const std::array<groups_of::RowMemory, 3> wanted = {
      {{rows.table, dim}, {rows.moments, 2 * dim}, {rows.moments + dim, 2 * dim}}};
  pieces.visit(from, to, [&](std::size_t group, std::size_t begin, std::size_t end) {
    const std::size_t row = groups.ids()[group];
    float* p = rows.table + row * dim;
    float* m = rows.moments + 2 * row * dim;
    const float* more = dtable == nullptr ? nullptr : dtable + row * dim;
    const StepScalars scalars(rule, step);
    bool usual = true;
    groups_of::sum_columns(groups, dout, dim, group, begin, end, wanted,
                           [&](auto df, std::size_t, std::size_t k, auto sum) HWY_ATTR {
                             if (more != nullptr) sum = hn::Add(hn::LoadU(df, more + k), sum);
                             sum = gradient_taken(df, rows, row, k, sum);
                             usual &= take_step(df, scalars, sum, p + k, m + k, m + dim + k);
                           });
    if (!usual) rows.kinds[row].store(RowKind::kExtreme, std::memory_order_relaxed);
  });
}

/// Step t, with row i of gradient for row i of the part.
void step_part(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t, const Part& part,
               const float* gradient) {
  constexpr std::size_t kAhead = 2;
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t dim = rows.dim;
  const std::size_t last = (part.ids == nullptr ? rows.count : part.to) - 1;  // a part of all rows is soon followed
  for (std::size_t i = part.from; i < part.to; ++i) {
    const std::size_t row = part.row(i);
    if (rows.taken[row] == t) continue;
    const std::size_t next = std::min(i + kAhead, last);
    const std::size_t ahead = part.row(next);
    const float* g = gradient + i * dim;
    float* p = rows.table + row * dim;
    float* m = rows.moments + 2 * row * dim;
    const StepScalars scalars(rule, step);
    bool usual = true;
    std::size_t k = 0;
    for (; k + lanes <= dim; k += lanes) {
      if (k % groups_of::kLineFloats == 0) {
        groups_of::fetch(rows.table + ahead * dim + k);
        groups_of::fetch(rows.moments + 2 * ahead * dim + k);
        groups_of::fetch(rows.moments + (2 * ahead + 1) * dim + k);
        groups_of::fetch(gradient + next * dim + k);
      }
      const auto taken = gradient_taken(df, rows, row, k, hn::LoadU(df, g + k));
      usual &= take_step(df, scalars, taken, p + k, m + k, m + dim + k);
    }
    for (; k < dim; ++k) {
      const auto taken = gradient_taken(one, rows, row, k, hn::LoadU(one, g + k));
      usual &= take_step(one, scalars, taken, p + k, m + k, m + dim + k);
    }
    rows.kinds[row].store(usual ? RowKind::kUsual : RowKind::kExtreme, std::memory_order_relaxed);
    rows.taken[row] = t;
  }
}

/// Step t of rows [from, to) by the sum over the batch.
void step_batch_part(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t, const float* dout,
                     std::size_t batch, std::size_t length, std::size_t from, std::size_t to) {
  const std::size_t dim = rows.dim;
  const groups_of::BatchMemory memory = {dout, batch, length * dim};
  for (std::size_t row = from; row < to; ++row) {
    float* p = rows.table + row * dim;
    float* m = rows.moments + 2 * row * dim;
    const std::size_t next = std::min(row + 1, rows.count - 1) - row;
    const StepScalars scalars(rule, step);
    bool usual = true;
    groups_of::sum_batch_columns(memory, row * dim, (row + 1) * dim, [&](auto df, std::size_t c, auto sum) HWY_ATTR {
      const std::size_t k = c - row * dim;
      if (k % groups_of::kLineFloats == 0) {
        groups_of::fetch(p + next * dim + k);
        groups_of::fetch(m + next * 2 * dim + k);
        groups_of::fetch(m + (next * 2 + 1) * dim + k);
      }
      const auto taken = gradient_taken(df, rows, row, k, sum);
      usual &= take_step(df, scalars, taken, p + k, m + k, m + dim + k);
    });
    rows.kinds[row].store(usual ? RowKind::kUsual : RowKind::kExtreme, std::memory_order_relaxed);
    rows.taken[row] = t;
  }
}

}  // namespace firstlayer::adamw_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::adamw_kernels {
namespace {

HWY_EXPORT(catch_up_part);
HWY_EXPORT(step_group_parts);
HWY_EXPORT(step_part);
HWY_EXPORT(step_batch_part);

/// Calls body(from, to) on the rows [0, count) in stretches that threads take as they get free: what a row costs
/// differs by a hundred times.
template <class Body>
void deal_rows(std::size_t count, unsigned threads, Body body) {
  constexpr std::size_t kStretch = 32;
  if (threads == 0) threads = hardware_threads();
  std::atomic<std::size_t> next = 0;
  const auto take = [&](std::size_t, std::size_t) {
    for (std::size_t from; (from = next.fetch_add(kStretch, std::memory_order_relaxed)) < count;) {
      body(from, std::min(count, from + kStretch));
    }
  };
  parallel_for(threads, threads, take);
}

}  // namespace

void catch_up(const Rows& rows, const AdamWRule& rule, const Missed& missed, std::span<const TokenId> ids,
              unsigned threads) {
  deal_rows(ids.size(), threads, [&](std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(catch_up_part)(rows, rule, missed, {ids.data(), from, to});
  });
}

void catch_up(const Rows& rows, const AdamWRule& rule, const Missed& missed, unsigned threads) {
  deal_rows(rows.count, threads, [&](std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(catch_up_part)(rows, rule, missed, {nullptr, from, to});
  });
}

void step_groups(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t,
                 const RowGroups& groups, const float* dout, const float* dtable, unsigned threads) {
  for (const TokenId id : groups.ids()) {
    rows.taken[id] = t;
    rows.kinds[id].store(RowKind::kUsual, std::memory_order_relaxed);  // unless the step finds otherwise
  }
  const GroupPieces pieces(groups, rows.dim);
  const auto take = [&](std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(step_group_parts)(rows, rule, step, groups, pieces, dout, dtable, from, to);
  };
  parallel_for(pieces.work(), threads, take);
}

void step_rows(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t,
               std::span<const TokenId> ids, const float* gradient, unsigned threads) {
  deal_rows(ids.size(), threads, [&](std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(step_part)(rows, rule, step, t, {ids.data(), from, to}, gradient);
  });
}

void step_batch(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t, const float* dout,
                std::size_t batch, std::size_t length, unsigned threads) {
  deal_rows(length, threads, [&](std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(step_batch_part)(rows, rule, step, t, dout, batch, length, from, to);
  });
}

void step_rest(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t, const float* gradient,
               unsigned threads) {
  deal_rows(rows.count, threads, [&](std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(step_part)(rows, rule, step, t, {nullptr, from, to}, gradient);
  });
}

}  // namespace firstlayer::adamw_kernels
#endif  // HWY_ONCE
