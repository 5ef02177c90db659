#pragma once
// The input layer while it learns: both tables, each with its optimizer, so that nobody reads a row that is behind.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/input_embedding.h"
#include "firstlayer/lookup/optimizer/clip.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/optimizer/table_optimizer.h"
#include "firstlayer/lookup/row_groups.h"

namespace firstlayer {

/// By what the tables learn; a table without an optimizer is frozen.
struct InputTrainerOptions {
  std::optional<OptimizerOptions> tokens = {};
  std::optional<OptimizerOptions> positions = {};
  bool ledger = false;  ///< of the token table (ledger.h)
};

/// For each batch forward(), then either backward_step(), or backward(), perhaps clip_gradients(), and step().
/// `threads` is 0 for all; the bits do not depend on it. After the first batch of a shape, nothing of the optimizers
/// allocates.
class InputTrainer {
 public:
  /// Throws std::invalid_argument if there is no optimizer, one for positions that the embedding does not have, or an
  /// option out of range.
  InputTrainer(InputEmbedding embedding, const InputTrainerOptions& options);

  /// What save() wrote, with optimizers of the same kinds; their options, learning rates and steps are the files'.
  /// Throws FileError, FormatError, and as the constructor.
  static InputTrainer load(const std::filesystem::path& folder, const InputTrainerOptions& options);

  /// wte.weight and wpe.weight as model.safetensors, and the states as wte.optimizer.safetensors and
  /// wpe.optimizer.safetensors, in a folder that is made if it is missing. Throws FileError.
  void save(const std::filesystem::path& folder, unsigned threads = 0);

  /// The tables with all rows up to date.
  const InputEmbedding& embedding(unsigned threads = 0);

  /// The optimizers; nullptr for a frozen table.
  TableOptimizer* tokens() { return tokens_ ? &*tokens_ : nullptr; }
  TableOptimizer* positions() { return positions_ ? &*positions_ : nullptr; }

  /// Steps taken.
  std::uint64_t steps() const { return (tokens_ ? *tokens_ : *positions_).steps(); }
  /// Of both optimizers, from the next step on. Throws std::invalid_argument for a rate that one of them refuses.
  void set_learning_rate(double lr);

  /// out[b, t] = wte[ids[b, t]] + wpe[t] of rows that are up to date, and remembers the batch. Throws as
  /// InputEmbedding::forward().
  void forward(IdView ids, View<float, 3> out, unsigned threads = 0);

  /// The gradients and the step in one, for dout = d loss / d out of the last forward(). The gradient of the token
  /// table is never written to memory. Throws std::invalid_argument for another shape, or without a forward() since the
  /// last step; NonFiniteGradient naming the table, once the step is taken.
  void backward_step(View<const float, 3> dout, unsigned threads = 0);

  /// The gradients alone. Throws as backward_step(), but for numbers that are not finite.
  void backward(View<const float, 3> dout, unsigned threads = 0);
  /// Those that backward() computed, of tables that learn, for clip_gradients(), which other gradients may join.
  std::vector<NamedGradient> gradients();
  /// The step by these gradients. Throws std::invalid_argument without a backward() before it; NonFiniteGradient naming
  /// the table, once the step is taken.
  void step(unsigned threads = 0);

 private:
  enum class Stage { kIdle, kForward, kBackward };

  void expect_stage(std::string_view where, Stage stage, std::string_view call) const;

  InputEmbedding embedding_;
  std::optional<TableOptimizer> tokens_;
  std::optional<TableOptimizer> positions_;
  Stage stage_ = Stage::kIdle;
  Shape<2> batch_{};             ///< (B, T) of the last forward()
  RowGroups groups_;             ///< of its ids
  std::vector<TokenId> places_;  ///< 0 .. T-1
  RowGradient dtokens_;
  RowGradient dpositions_;
};

}  // namespace firstlayer
