#pragma once
// The optimizers a table can learn by, with PyTorch's names and defaults.
//
// "Dense semantics" means what torch.optim does with a dense gradient: a step reaches all rows, those without a
// gradient too, by weight decay and by the momentum they still have. "Sparse" means that a step reaches the touched
// rows alone.

#include <variant>

namespace firstlayer {

/// torch.optim.SGD, dense semantics.
struct Sgd {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  ///< L2: added to the gradient
  bool nesterov = false;
};

/// torch.optim.Adagrad, dense semantics.
struct Adagrad {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;  ///< L2: added to the gradient
  double initial_accumulator_value = 0;
  double eps = 1e-10;
};

/// FBGEMM's EXACT_ROWWISE_ADAGRAD: one accumulator for each row, the mean of its squared gradient. Sparse.
struct RowwiseAdagrad {
  double lr = 1e-2;
  double eps = 1e-8;
};

/// torch.optim.Adam, dense semantics.
struct Adam {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< L2: added to the gradient
};

/// torch.optim.AdamW(fused=True), dense semantics, to the bit.
struct AdamW {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;  ///< decoupled
};

/// torch.optim.SparseAdam: touched rows alone, bias correction by the count of all steps.
struct SparseAdam {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
};

/// AdamW's step on touched rows alone: decay too comes only with a gradient.
struct SparseAdamW {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
};

using OptimizerOptions = std::variant<Sgd, Adagrad, RowwiseAdagrad, Adam, AdamW, SparseAdam, SparseAdamW>;

}  // namespace firstlayer
