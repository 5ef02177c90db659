#pragma once
// What each optimizer does to the rows of one table. Internal to the library; table_optimizer.h is what applications
// use: it checks what comes in, so that here everything fits.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

/// Where a part of the state lies: row i is `width` floats from data + i * stride.
struct StateRows {
  std::string name;  ///< PyTorch's: "exp_avg", "exp_avg_sq", "momentum_buffer", "sum"
  float* data;
  std::size_t width;  ///< d, or 1
  std::size_t stride;
};

/// One table under one optimizer. Steps are counted from 1. What it gives has the same bits for any `threads` (0: all)
/// and on any processor. After the first step nothing is allocated.
class RowOptimizer {
 public:
  virtual ~RowOptimizer() = default;

  /// Takes the next step; the gradient of row groups.ids()[u] is the sum of the rows of dout (places, d) of its group.
  virtual void step(double lr, const RowGroups& groups, const float* dout, unsigned threads) = 0;

  /// The same for a gradient that was summed before.
  virtual void step(double lr, const RowGradient& gradient, unsigned threads) = 0;

  /// The same for the gradient of every row, dtable (V, d), plus that of the groups if there are any: dtable[i] + sum.
  virtual void step(double lr, View<const float, 2> dtable, const RowGroups* groups, const float* dout,
                    unsigned threads) = 0;

  /// The same for rows 0 ... T - 1, named by `positions`: the gradient of row t is the sum of dout[b, t] over the
  /// batch, for dout (B, T, d), as position_gradient() has it.
  virtual void step(double lr, std::span<const TokenId> positions, View<const float, 3> dout, unsigned threads) = 0;

  /// These rows (ascending) take the steps they missed, to the bit of having taken each: they can be read after it.
  /// Sparse optimizers have none to take.
  virtual void prepare(std::span<const TokenId> ids, unsigned threads) = 0;

  /// prepare() for all rows.
  virtual void settle(unsigned threads) = 0;

  /// Steps taken.
  virtual std::uint64_t steps() const = 0;

  /// The state, for saving after settle() and for restoring, after which restored() is called.
  virtual std::vector<StateRows> state() = 0;

  /// The state's rows hold what was saved after `steps` steps, all of them current.
  virtual void restored(std::uint64_t steps) = 0;
};

}  // namespace firstlayer
