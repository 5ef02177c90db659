#pragma once
// The cases of tools/make_optimizer_golden.py, and the stream of numbers that they learn from.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer::testing {

struct OptimizerCase {
  std::string name;
  OptimizerOptions options;
  bool tied = false;  ///< a dense gradient comes on top of the batch's
};

inline void PrintTo(const OptimizerCase& each, std::ostream* out) { *out << each.name; }

inline const std::vector<OptimizerCase>& optimizer_cases() {
  static const Sgd momentum{.lr = 0.1, .momentum = 0.9};
  static const Adagrad adagrad_decay{
      .lr = 0.1, .lr_decay = 0.01, .weight_decay = 0.03, .initial_accumulator_value = 0.1, .eps = 1e-6};
  static const Adam adam_decay{.lr = 0.01, .weight_decay = 0.03};
  static const std::vector<OptimizerCase> cases = {
      {"sgd", Sgd{.lr = 0.1}},
      {"sgd_decay", Sgd{.lr = 0.1, .weight_decay = 0.03}},
      {"sgd_momentum", momentum},
      {"sgd_momentum_tied", momentum, true},
      {"sgd_dampened", Sgd{.lr = 0.1, .momentum = 0.9, .dampening = 0.3}},
      {"sgd_nesterov", Sgd{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.03, .nesterov = true}},
      {"adagrad", Adagrad{.lr = 0.1}},
      {"adagrad_decay", adagrad_decay},
      {"adagrad_decay_tied", adagrad_decay, true},
      {"adam", Adam{.lr = 0.01}},
      {"adam_decay", adam_decay},
      {"adam_decay_tied", adam_decay, true},
      {"adam_low_betas", Adam{.lr = 0.01, .beta1 = 0.3, .beta2 = 0.8, .eps = 1e-6, .weight_decay = 0.03}},
      {"adamw", AdamW{.lr = 0.01}},
      {"adamw_tied", AdamW{.lr = 0.01}, true},
      {"adamw_low_betas", AdamW{.lr = 0.01, .beta1 = 0.4, .beta2 = 0.9, .weight_decay = 0.1}},
      {"sparse_adam", SparseAdam{.lr = 0.01}},
      {"sparse_adamw", SparseAdamW{.lr = 0.01}},
      {"rowwise_adagrad", RowwiseAdagrad{.lr = 0.1}},
  };
  return cases;
}

/// A table (24, 16), and for each step a batch (2, 4) of its ids with a gradient.
class OptimizerStream {
 public:
  static constexpr Shape<2> kTable = {24, 16};

  OptimizerStream() { generator_.fill_normal(table.flat()); }

  void next() {
    ++step_;
    rate_factor = static_cast<double>(1 + step_ % 7) / 4;
    const std::uint32_t rows = step_ <= 20 ? kTable[0] / 2 : kTable[0];
    for (TokenId& id : ids.flat()) id = generator_.next_u32() % rows;
    generator_.fill_normal(dout.flat());
    generator_.fill_normal(dtable.flat());
    groups.assign(ids, kTable[0]);
  }

  double rate_factor = 0;
  Tensor<float, 2> table{kTable};
  Tensor<TokenId, 2> ids{{2, 4}};
  Tensor<float, 3> dout{{2, 4, kTable[1]}};
  Tensor<float, 2> dtable{kTable};
  RowGroups groups;

 private:
  Generator generator_{7};
  std::uint64_t step_ = 0;
};

}  // namespace firstlayer::testing
