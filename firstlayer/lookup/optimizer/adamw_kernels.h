#pragma once
// AdamW's steps on the rows of a table. Internal to the library; lazy_adamw.h says which rows take which.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/optimizer/adamw_step.h"
#include "firstlayer/lookup/optimizer/non_finite.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer::adamw_kernels {

/// What is known of a row's moments.
enum class RowKind : std::uint8_t {
  kUntouched,  ///< all are +0: a step without a gradient only decays the parameters
  kUsual,      ///< |M| < 2^60 and V < 2^80
  kExtreme,    ///< some are larger, infinite or not a number
};

/// A table under AdamW.
struct Rows {
  float* table;                 ///< (V, d), the parameters
  float* moments;               ///< (V, 2, d), M and V of each row
  std::size_t count;            ///< V
  std::size_t dim;              ///< d
  std::uint64_t* taken;         ///< (V,) the steps that each row has taken
  std::atomic<RowKind>* kinds;  ///< (V,)
  /// Takes reports of gradients that are not finite, which then count as zero; nullptr: they go into the table.
  NonFinite* non_finite = nullptr;
};

/// Steps that rows may have missed: steps[i] is number first + i + 1.
struct Missed {
  std::span<const AdamWStep> steps;
  std::uint64_t first;
};

/// Rows that one thread works on: ids[from] ... ids[to - 1], or without ids these numbers themselves.
struct Part {
  const TokenId* ids;
  std::size_t from;
  std::size_t to;

  std::size_t row(std::size_t i) const { return ids == nullptr ? i : ids[i]; }
};

/// One step, plainly, on `count` numbers; `gradient` may be nullptr, for zeros.
void step_reference(const AdamWRule& rule, const AdamWStep& step, float* p, float* m, float* v, const float* gradient,
                    std::size_t count);

/// These rows take the steps they missed, all with a gradient of zero; `ids` are different.
void catch_up(const Rows& rows, const AdamWRule& rule, const Missed& missed, std::span<const TokenId> ids,
              unsigned threads);

/// The same for all rows.
void catch_up(const Rows& rows, const AdamWRule& rule, const Missed& missed, unsigned threads);

/// Step number t on the rows of the groups, which have taken t - 1. The gradient of a row is the sum of the rows of
/// dout (places, d) of its group, and dtable (V, d), unless that is nullptr, plus this sum.
void step_groups(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t,
                 const RowGroups& groups, const float* dout, const float* dtable, unsigned threads);

/// Step number t on the rows `ids`, different ones, which have taken t - 1. gradient (U, d) has a row for each.
void step_rows(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t,
               std::span<const TokenId> ids, const float* gradient, unsigned threads);

/// Step number t on rows 0 ... length - 1, which have taken t - 1. The gradient of row i is the sum of dout[b, i] over
/// the batch, for dout (batch, length, d), as gradient_kernels::sum_batch() has it.
void step_batch(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t, const float* dout,
                std::size_t batch, std::size_t length, unsigned threads);

/// Step number t on all rows that have not taken it. gradient (V, d).
void step_rest(const Rows& rows, const AdamWRule& rule, const AdamWStep& step, std::uint64_t t, const float* gradient,
               unsigned threads);

}  // namespace firstlayer::adamw_kernels
