#pragma once
// Every optimizer whose step is a rule for each number or row. Internal to the library.

#include <cstdint>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/optimizer/non_finite.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/optimizer/row_optimizer.h"
#include "firstlayer/lookup/optimizer/rule_kernels.h"

namespace firstlayer {

/// Rows that a zero gradient would move remember how many steps they have taken, and take what they missed when they
/// are next needed: number by number the same operations as if they had taken them in time. Of the steps only their
/// scalars are kept, up to kHistory of them; then all rows catch up. Where a zero gradient moves nothing, there is
/// nothing to remember.
class RuleOptimizer final : public RowOptimizer {
 public:
  static constexpr std::size_t kHistory = 1024;

  /// Of a table (V, d) that the caller owns; options that check_options() lets pass. Gradients that are not finite are
  /// reported to `non_finite` and taken for zero. Table and `non_finite` outlive this.
  RuleOptimizer(View<float, 2> table, const OptimizerOptions& options, NonFinite& non_finite);

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
  rule_kernels::Rows rows() { return {rule_, table_, state_.flat().data()}; }
  rule_kernels::CatchUp catch_up_job() { return {rows(), history_, taken_.data()}; }
  void make_room(unsigned threads);
  rule_kernels::Step next_step(double lr);
  void end_step(const rule_kernels::Step& step, std::span<const TokenId> touched);
  std::span<float> scratch(unsigned threads);

  OptimizerOptions options_;
  Rule rule_;
  ZeroGradient zero_gradient_;
  View<float, 2> table_;
  NonFinite& non_finite_;
  Tensor<float, 1> state_;
  std::uint64_t steps_ = 0;
  std::vector<float> scratch_;
  RowGradient dpositions_;

  // Of optimizers that zero gradients move.
  std::vector<StepScalars> history_;  ///< since all rows were current
  std::vector<std::uint32_t> taken_;  ///< (V,) how many of them a row has taken
};

}  // namespace firstlayer
