#pragma once
// What is said about an input layer, put to the test on a text: each claim with what was measured and what follows.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/input_embedding.h"
#include "firstlayer/view/attention.h"

namespace firstlayer {

enum class Verdict {
  kHolds,
  kDoesNotHold,
  kNotShown,  ///< this text cannot show it
};

/// "holds", "does not hold" or "not shown".
std::string_view verdict_text(Verdict verdict);

/// 3 of 50,257.
struct Count {
  std::uint64_t count;
  std::uint64_t of;
};

/// A part whose size beside the whole is what matters: 31.6 %.
struct Share {
  std::uint64_t part;
  std::uint64_t whole;
};

/// Ids, which have a text, unlike other numbers.
struct Ids {
  std::vector<TokenId> ids;
};

struct Measurement {
  std::string name;  ///< "rows_moved": stable, and the words for it
  std::variant<std::uint64_t, double, Count, Share, Ids, std::vector<std::uint64_t>> value;
  std::string unit;  ///< "rows"; empty where the name says it
};

/// A vector worth looking at.
struct NamedVector {
  std::string name;
  std::vector<float> values;
};

struct Evidence {
  std::string id;     ///< "one-hot": stable
  std::string claim;  ///< in a sentence
  std::vector<Measurement> measured;
  std::vector<NamedVector> vectors;
  Verdict verdict = Verdict::kNotShown;
  std::string needs;  ///< for kNotShown: what the text must have
};

/// The operations that the claims are about, so that others can be put to the same test.
struct LayerOperations {
  /// out[b, t] = table[ids[b, t]]
  std::function<void(View<const float, 2> table, IdView ids, View<float, 3> out)> lookup;
  /// The input tensor of ids (B, T): (B, T, d) of token plus position.
  std::function<Tensor<float, 3>(const InputEmbedding& embedding, IdView ids)> forward;
  /// The gradient of lookup for dout (B, T, d).
  std::function<RowGradient(const Shape<2>& table, IdView ids, View<const float, 3> dout)> gradient;
  /// An optimizer's step on the table.
  std::function<void(View<float, 2> table, const RowGradient& gradient, float rate)> step;
  /// x (T, d) -> (T, h)
  std::function<Tensor<double, 2>(View<const float, 2> x, const AttentionWeights& weights)> attention;
  /// The numbers that both tables hold.
  std::function<std::uint64_t(const EmbeddingSizes& sizes)> parameters;
};

/// This library's: lookup_rows(), InputEmbedding::forward(), lookup_gradient(), descend(), self_attention(),
/// EmbeddingSizes::parameters(). On `threads` threads, 0: all.
LayerOperations library_operations(unsigned threads = 0);

/// Puts every claim to the test on ids (T,), which are a row of the batch. Gradients, projections and renumberings are
/// drawn from `seed`. Holds at most one more token table in memory at a time. Throws std::invalid_argument if there are
/// no ids, a number of their rows is not finite, or an operation returns another shape; std::out_of_range naming an id
/// that is no row, or T if it is longer than the context.
std::vector<Evidence> explain(const InputEmbedding& embedding, std::span<const TokenId> ids, std::uint64_t seed,
                              const LayerOperations& layer);
std::vector<Evidence> explain(const InputEmbedding& embedding, std::span<const TokenId> ids, std::uint64_t seed);

}  // namespace firstlayer
