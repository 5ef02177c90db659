#pragma once
// AdamW with the results of a dense gradient, at the price of a sparse one: a row that has no gradient is left alone
// until it is read, and then takes the steps it missed, to the bit of having taken each in its time. Internal to the
// library; table_optimizer.h is what applications use.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/optimizer/adamw_kernels.h"
#include "firstlayer/lookup/optimizer/adamw_step.h"
#include "firstlayer/lookup/optimizer/non_finite.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/optimizer/row_optimizer.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

/// torch.optim.AdamW(fused=True), dense semantics, to the bit but for the payload of a NaN. With weight_decay 0 it is
/// torch.optim.Adam(fused=True) with weight_decay 0. Up to beta1 = 1/2 PyTorch computes the first moment another way,
/// which RuleOptimizer has.
class LazyAdamW final : public RowOptimizer {
 public:
  /// Steps that a row may lag behind before all rows are settled.
  static constexpr std::size_t kHistory = 4096;

  /// For a table (V, d), which must outlive this. Betas in [0, 1), eps and weight_decay >= 0; options.lr is not used,
  /// each step names its own. With `non_finite`, gradients that are not finite are reported there and taken for zero;
  /// without, they go into the table. Throws std::bad_alloc.
  LazyAdamW(View<float, 2> table, const AdamW& options, NonFinite* non_finite = nullptr);

  /// The steps throw std::invalid_argument, before anything is changed, if -lr / (1 - beta1^t) or 1 - lr * weight_decay
  /// is not a finite float, or lr is negative.
  void step(double lr, const RowGroups& groups, const float* dout, unsigned threads) override;
  void step(double lr, const RowGradient& gradient, unsigned threads) override;
  void step(double lr, View<const float, 2> dtable, const RowGroups* groups, const float* dout,
            unsigned threads) override;
  void step(double lr, std::span<const TokenId> positions, View<const float, 3> dout, unsigned threads) override;

  void prepare(std::span<const TokenId> ids, unsigned threads) override;
  void settle(unsigned threads) override;
  std::uint64_t steps() const override { return steps_; }
  std::vector<StateRows> state() override;
  void restored(std::uint64_t steps) override;

 private:
  /// The scalars of step steps() + 1, appended to the history, which is emptied first if it is full.
  const AdamWStep& begin_step(double lr, unsigned threads);
  /// After a step that reached `touched` rows.
  void end_step(std::size_t touched, unsigned threads);
  adamw_kernels::Rows rows();
  /// The kind of a row whose moments are +0. It moves after all where eps is 0: -0 / 0 is not a number.
  adamw_kernels::RowKind still_kind() const;

  View<float, 2> table_;
  AdamWRule rule_;
  NonFinite* non_finite_;
  Tensor<float, 3> moments_;                                ///< (V, 2, d): exp_avg and exp_avg_sq of a row side by side
  std::vector<std::uint64_t> taken_;                        ///< (V,) steps that row has taken
  std::vector<std::atomic<adamw_kernels::RowKind>> kinds_;  ///< (V,)
  std::vector<AdamWStep> history_;                          ///< the steps after settled_
  std::uint64_t settled_ = 0;                               ///< steps that every row has taken
  std::uint64_t steps_ = 0;
};

}  // namespace firstlayer
