// The rules on vectors: operation for operation what rule_reference.cpp does on one number.

#include "firstlayer/lookup/optimizer/rule_kernels.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>

#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/group_pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/lookup/optimizer/rule_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "firstlayer/lookup/optimizer/non_finite-inl.h"
#include "firstlayer/lookup/optimizer/rules-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::rule_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace sums = firstlayer::HWY_NAMESPACE;

/// Where an instruction would round twice what the rule rounds once, the reference does the work.
template <class AnyRule>
inline constexpr bool kOnVectors = HWY_NATIVE_FMA || !AnyRule::kFused;

/// use(df, k) for all columns, by vectors and then one by one.
template <class Use>
HWY_INLINE void for_columns(std::size_t dim, Use use) {
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  std::size_t k = 0;
  for (; k + hn::Lanes(df) <= dim; k += hn::Lanes(df)) use(df, k);
  for (; k < dim; ++k) use(one, k);
}

/// Takes the gradient of a row in vectors: each is at once all that its columns need. Has copies of what a step
/// multiplies by, which stores to the table cannot change as far as the compiler knows.
template <class AnyRule>
class RowStep {
 public:
  RowStep(const AnyRule& rule, const Step& step, float*) : rule_(rule), scalars_(step.scalars), rows_(step.rows) {}

  HWY_INLINE auto wanted() const { return memory_of(rule_, rows_); }

  template <class Tag>
  HWY_INLINE void operator()(Tag df, std::size_t row, std::size_t k, hn::Vec<Tag> g) const {
    auto numbers = load_numbers(df, rule_, rows_, row, k);
    update(df, rule_, scalars_, g, numbers);
    store_numbers(df, rule_, rows_, row, k, numbers);
  }
  HWY_INLINE void finish(std::size_t) const {}

 private:
  AnyRule rule_;
  StepScalars scalars_;
  Rows rows_;
};

/// The whole row's gradient must be known before its first number moves, so it waits in `scratch` (d,).
template <>
class RowStep<RowwiseAdagradRule> {
 public:
  RowStep(const RowwiseAdagradRule& rule, const Step& step, float* scratch)
      : rule_(rule), step_(step), scratch_(scratch) {}

  HWY_INLINE std::array<sums::RowMemory, 1> wanted() const {
    return {sums::RowMemory{step_.rows.table.data(), step_.rows.table.shape()[1]}};
  }

  template <class Tag>
  HWY_INLINE void operator()(Tag df, std::size_t, std::size_t k, hn::Vec<Tag> g) const {
    hn::StoreU(g, df, scratch_ + k);
  }

  HWY_INLINE void finish(std::size_t row) const {
    const std::size_t dim = step_.rows.table.shape()[1];
    float& sum = step_.rows.state[row];
    sum += sum_of_squares(scratch_, dim) / static_cast<float>(dim);
    const float rate = step_.scalars.rate / (std::sqrt(sum) + rule_.eps);
    float* p = step_.rows.table.data() + row * dim;
    for_columns(dim, [&](auto df, std::size_t k) HWY_ATTR {
      const auto g = hn::LoadU(df, scratch_ + k);
      hn::StoreU(hn::Sub(hn::LoadU(df, p + k), hn::Mul(hn::Set(df, rate), g)), df, p + k);
    });
  }

 private:
  const RowwiseAdagradRule& rule_;
  const Step& step_;
  float* scratch_;
};

/// Calls use(row_step) with the RowStep of the job's rule, or use_reference() where vectors cannot do its work.
template <class Use, class UseReference>
HWY_INLINE void with_rule(const Step& step, float* scratch, Use use, UseReference use_reference) {
  std::visit(
      [&](const auto& rule) {
        using AnyRule = std::decay_t<decltype(rule)>;
        if constexpr (kOnVectors<AnyRule>) {
          use(RowStep<AnyRule>(rule, step, scratch));
        } else {
          use_reference();
        }
      },
      step.rows.rule);
}

void step_groups_part(const GroupStep& job, const GroupPieces& pieces, float* scratch, std::size_t from,
                      std::size_t to) {
  const auto on_vectors = [&](const auto row_step) HWY_ATTR {
    pieces.visit(from, to, [&](std::size_t u, std::size_t begin, std::size_t end) HWY_ATTR {
      const std::size_t row = job.groups.ids()[u];
      sums::sum_columns(job.groups, job.dout, job.step.rows.table.shape()[1], u, begin, end, row_step.wanted(),
                        [&](auto df, std::size_t, std::size_t k, auto sum) HWY_ATTR {
                          row_step(df, row, k, sums::finite_or_zero(df, *job.step.non_finite, row, k, sum));
                        });
      row_step.finish(row);
    });
  };
  with_rule(job.step, scratch, on_vectors, [&] {
    pieces.visit(from, to,
                 [&](std::size_t u, std::size_t begin, std::size_t end) { step_group_reference(job, u, begin, end); });
  });
}

void step_compact_part(const CompactStep& job, float* scratch, std::size_t from, std::size_t to) {
  constexpr std::size_t kRowsAhead = 2;
  const std::size_t dim = job.step.rows.table.shape()[1];
  const auto on_vectors = [&](const auto row_step) HWY_ATTR {
    for (std::size_t u = from; u < to; ++u) {
      const std::size_t next = job.ids[std::min(u + kRowsAhead, to - 1)];
      for_columns(dim, [&](auto df, std::size_t k) HWY_ATTR {
        if (k % sums::kLineFloats == 0) {
          for (const sums::RowMemory& memory : row_step.wanted()) sums::fetch(memory.data + next * memory.stride + k);
        }
        const auto g = hn::LoadU(df, job.gradient + u * dim + k);
        row_step(df, job.ids[u], k, sums::finite_or_zero(df, *job.step.non_finite, job.ids[u], k, g));
      });
      row_step.finish(job.ids[u]);
    }
  };
  with_rule(job.step, scratch, on_vectors, [&] {
    for (std::size_t u = from; u < to; ++u) step_compact_row_reference(job, u);
  });
}

void step_dense_part(const DenseStep& job, float* scratch, std::size_t from, std::size_t to) {
  const std::size_t dim = job.step.rows.table.shape()[1];
  const std::span<const TokenId> ids = job.groups != nullptr ? job.groups->ids() : std::span<const TokenId>{};
  auto u = static_cast<std::size_t>(std::ranges::lower_bound(ids, from) - ids.begin());
  const auto on_vectors = [&](const auto row_step) HWY_ATTR {
    for (std::size_t row = from; row < to; ++row) {
      const float* drow = job.dtable + row * dim;
      const auto take = [&](auto df, std::size_t k, auto g) HWY_ATTR {
        row_step(df, row, k, sums::finite_or_zero(df, *job.step.non_finite, row, k, g));
      };
      if (u < ids.size() && ids[u] == row) {
        sums::sum_columns(*job.groups, job.dout, dim, u++, 0, dim, std::array<sums::RowMemory, 0>{},
                          [&](auto df, std::size_t, std::size_t k, auto sum)
                              HWY_ATTR { take(df, k, hn::Add(hn::LoadU(df, drow + k), sum)); });
      } else {
        for_columns(dim, [&](auto df, std::size_t k) HWY_ATTR { take(df, k, hn::LoadU(df, drow + k)); });
      }
      row_step.finish(row);
    }
  };
  with_rule(job.step, scratch, on_vectors, [&] {
    for (std::size_t row = from; row < to; ++row) step_dense_row_reference(job, row);
  });
}

/// The missed steps of kCount vectors, which stay in registers from the first step to the last.
template <std::size_t kCount, class Tag, class ElementRule>
HWY_INLINE void catch_up_block(Tag df, const ElementRule& rule, const Rows& rows, std::span<const StepScalars> missed,
                               std::size_t row, std::size_t k) {
  const std::size_t lanes = hn::Lanes(df);
  Numbers<Tag> numbers[kCount];
  for (std::size_t j = 0; j < kCount; ++j) numbers[j] = load_numbers(df, rule, rows, row, k + j * lanes);
  for (const StepScalars& scalars : missed) {
    for (Numbers<Tag>& each : numbers) update(df, rule, scalars, hn::Zero(df), each);
  }
  for (std::size_t j = 0; j < kCount; ++j) store_numbers(df, rule, rows, row, k + j * lanes, numbers[j]);
}

template <class ElementRule>
HWY_INLINE void catch_up_row_with(const ElementRule& rule, const CatchUp& job, std::size_t row) {
  constexpr std::size_t kCount = 4;  // the steps of a number wait for each other, those of its neighbours do not
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(df);
  const std::size_t dim = job.rows.table.shape()[1];
  const std::span<const StepScalars> missed = job.history.subspan(job.taken[row]);
  std::size_t k = 0;
  for (; k + kCount * lanes <= dim; k += kCount * lanes) catch_up_block<kCount>(df, rule, job.rows, missed, row, k);
  for (; k + lanes <= dim; k += lanes) catch_up_block<1>(df, rule, job.rows, missed, row, k);
  for (; k < dim; ++k) catch_up_block<1>(one, rule, job.rows, missed, row, k);
  job.taken[row] = static_cast<std::uint32_t>(job.history.size());
}

void catch_up_row(const CatchUp& job, std::size_t row) {
  if (job.taken[row] == CatchUp::kFresh || job.taken[row] == job.history.size()) return;
  std::visit(
      [&](const auto& rule) {
        using AnyRule = std::decay_t<decltype(rule)>;
        if constexpr (std::is_same_v<AnyRule, RowwiseAdagradRule> || !kOnVectors<AnyRule>) {
          catch_up_row_reference(job, row);
        } else {
          catch_up_row_with(rule, job, row);
        }
      },
      job.rows.rule);
}

}  // namespace firstlayer::rule_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::rule_kernels {

HWY_EXPORT(step_groups_part);
HWY_EXPORT(step_compact_part);
HWY_EXPORT(step_dense_part);
HWY_EXPORT(catch_up_row);

namespace {

/// Parts of the work for each thread, so that one that is interrupted leaves its share to the others.
constexpr std::size_t kPartsPerThread = 4;

std::size_t part_count(unsigned threads) {
  if (threads == 0) threads = hardware_threads();
  return threads == 1 ? 1 : threads * kPartsPerThread;
}

/// do_part(scratch, from, to) for parts of the work, each with a part of the scratch memory, if there is any, to
/// itself.
template <class DoPart>
void share(std::size_t work, std::span<float> scratch, std::size_t dim, unsigned threads, const DoPart& do_part) {
  if (scratch.empty()) {
    const auto body = [&](std::size_t from, std::size_t to) { do_part(static_cast<float*>(nullptr), from, to); };
    parallel_for(work, threads, body);
    return;
  }
  const std::size_t parts = scratch.size() / dim;
  const auto body = [&](std::size_t begin, std::size_t end) {
    for (std::size_t part = begin; part < end; ++part) {
      do_part(scratch.data() + part * dim, work * part / parts, work * (part + 1) / parts);
    }
  };
  parallel_for(parts, threads, body);
}

std::size_t width(const Step& step) { return step.rows.table.dim(1); }

}  // namespace

std::size_t scratch_floats(const Rule& rule, std::size_t dim, unsigned threads) {
  return std::holds_alternative<RowwiseAdagradRule>(rule) ? part_count(threads) * dim : 0;
}

void step(const GroupStep& job, std::span<float> scratch, unsigned threads) {
  const GroupPieces pieces(job.groups, width(job.step), /*whole_rows=*/!scratch.empty());
  share(pieces.work(), scratch, width(job.step), threads, [&](float* part, std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(step_groups_part)(job, pieces, part, from, to);
  });
}

void step(const CompactStep& job, std::span<float> scratch, unsigned threads) {
  share(job.ids.size(), scratch, width(job.step), threads, [&](float* part, std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(step_compact_part)(job, part, from, to);
  });
}

void step(const DenseStep& job, std::span<float> scratch, unsigned threads) {
  const std::size_t rows = job.step.rows.table.dim(0);
  share(rows, scratch, width(job.step), threads, [&](float* part, std::size_t from, std::size_t to) {
    HWY_DYNAMIC_DISPATCH(step_dense_part)(job, part, from, to);
  });
}

void catch_up(const CatchUp& job, std::span<const TokenId> rows, unsigned threads) {
  const auto body = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) HWY_DYNAMIC_DISPATCH(catch_up_row)(job, rows[i]);
  };
  parallel_for(rows.size(), threads, body);
}

void catch_up_all(const CatchUp& job, unsigned threads) {
  const auto body = [&](std::size_t from, std::size_t to) {
    for (std::size_t row = from; row < to; ++row) HWY_DYNAMIC_DISPATCH(catch_up_row)(job, row);
  };
  parallel_for(job.rows.table.dim(0), threads, body);
}

}  // namespace firstlayer::rule_kernels
#endif  // HWY_ONCE
