#pragma once
// A rule carried out on the rows of a table: fused with the sums of the gradient, on a gradient summed before, on a
// dense one, and for steps that a row missed. Internal to the library; rule_optimizer.cpp keeps the books.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/optimizer/non_finite.h"
#include "firstlayer/lookup/optimizer/rules.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer::rule_kernels {

/// A table (V, d) and its state. Row i of state j begins at state + (2 i + j) d where a rule has two states, at
/// state + i d where it has one, and is the number state[i] where that is one for each row.
struct Rows {
  Rule rule;
  View<float, 2> table;
  float* state;
};

/// One step of some rows. Gradients that are not finite are reported and taken for zero.
struct Step {
  Rows rows;
  StepScalars scalars;
  NonFinite* non_finite;
};

/// For rows whose gradient is the sum of dout (places, d) over the places of a group.
struct GroupStep {
  Step step;
  const RowGroups& groups;
  const float* dout;
};

/// For rows ids[u] whose gradient is gradient (U, d).
struct CompactStep {
  Step step;
  std::span<const TokenId> ids;
  const float* gradient;
};

/// For all rows. Their gradient is dtable (V, d), plus the sum of their group where `groups` is not nullptr.
struct DenseStep {
  Step step;
  const float* dtable;
  const RowGroups* groups;
  const float* dout;
};

/// For rows that missed steps: row i has taken the first taken[i] of `history`, and takes the others with a gradient of
/// zero. Rows marked kFresh have nothing to take.
struct CatchUp {
  static constexpr std::uint32_t kFresh = std::numeric_limits<std::uint32_t>::max();

  Rows rows;
  std::span<const StepScalars> history;
  std::uint32_t* taken;  ///< (V,)
};

/// The readable definitions: columns [begin, end) of group u; row ids[u]; row `row`; row `row`. A row-wise rule needs
/// all columns at once.
void step_group_reference(const GroupStep& job, std::size_t u, std::size_t begin, std::size_t end);
void step_compact_row_reference(const CompactStep& job, std::size_t u);
void step_dense_row_reference(const DenseStep& job, std::size_t row);
void catch_up_row_reference(const CatchUp& job, std::size_t row);

/// Floats that step() needs to work on `threads` threads on a table of this width: none unless the rule is row-wise.
std::size_t scratch_floats(const Rule& rule, std::size_t dim, unsigned threads);

/// The same bits on the vectors of this processor and on `threads` threads, 0: all.
void step(const GroupStep& job, std::span<float> scratch, unsigned threads);
void step(const CompactStep& job, std::span<float> scratch, unsigned threads);
void step(const DenseStep& job, std::span<float> scratch, unsigned threads);
void catch_up(const CatchUp& job, std::span<const TokenId> rows, unsigned threads);
void catch_up_all(const CatchUp& job, unsigned threads);

}  // namespace firstlayer::rule_kernels
