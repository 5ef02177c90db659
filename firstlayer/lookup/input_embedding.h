#pragma once
// The input tensor of a transformer: token table + position table, looked up and summed.
//   out[b, t] = wte[ids[b, t]] + wpe[t]      (B, T, d) = (B, T, d) + (T, d)
// Models with positions of another kind have no position table; see position/scheme.h.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/dropout.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/normalize.h"

namespace firstlayer {

/// The sizes of both tables, by name so that they cannot be swapped unseen.
struct EmbeddingSizes {
  std::size_t vocabulary;  ///< V, rows of the token table
  std::size_t context;     ///< rows of the position table, the longest T; 0 without one
  std::size_t dim;         ///< d, the width of both

  /// V * d + context * d, the numbers that training can move: 39,383,808 for GPT-2.
  std::size_t parameters() const { return (vocabulary + context) * dim; }
};

/// Standard deviations of the normal distributions that tables start from.
struct EmbeddingStd {
  double token = 1.0;
  double position = 1.0;
};
inline constexpr EmbeddingStd kTorchStd{1.0, 1.0};   ///< two torch.nn.Embedding
inline constexpr EmbeddingStd kGpt2Std{0.02, 0.01};  ///< OpenAI's GPT-2

/// What forward() does beside the plain sum, all in one pass over the output:
///   out = dropout(normalization(wte[ids] * scale + wpe[positions]))
struct InputOptions {
  /// (B, T), rows of the position table: for left padding, packed documents. Without them a row counts from `offset`.
  std::optional<IdView> positions = {};
  /// The position of the first id of each row: the ids already in a key-value cache. Not together with
  /// `positions`.
  std::size_t offset = 0;
  /// Of the token vectors, before positions are added; sqrt(d) in the Transformer's paper.
  float scale = 1.0F;
  std::optional<Normalization> normalization = {};
  /// Drawn for B * T * d numbers; it must outlive the call. nullptr drops nothing.
  const DropoutMask* dropout = nullptr;
};

class InputEmbedding {
 public:
  /// Draws the token table, then the position table, as two nn.Embedding made one after the other. Throws
  /// std::invalid_argument if a size is 0 or a std is negative or not finite.
  InputEmbedding(const EmbeddingSizes& sizes, Generator& generator, const EmbeddingStd& std = kTorchStd);

  /// Takes tables (V, d) and (context, d). Throws std::invalid_argument naming both widths if they differ, or if a
  /// table is empty.
  InputEmbedding(Tensor<float, 2> token_table, Tensor<float, 2> position_table);

  /// A table (V, d) without positions: out[b, t] = wte[ids[b, t]]. Throws std::invalid_argument if it is empty.
  explicit InputEmbedding(Tensor<float, 2> token_table);

  /// wte.weight and wpe.weight of a GPT-2 safetensors file, with or without the "transformer." prefix; its other
  /// tensors are passed over. Throws FileError; FormatError if a table is missing, is there under both names, is not a
  /// float32 matrix, or the widths differ.
  static InputEmbedding load_gpt2(const std::filesystem::path& path);

  /// wte.weight alone, without positions, whether or not the file has a table of them; otherwise as load_gpt2().
  static InputEmbedding load_gpt2_tokens(const std::filesystem::path& path);

  const EmbeddingSizes& sizes() const noexcept { return sizes_; }
  bool has_positions() const noexcept { return sizes_.context > 0; }

  /// The tables, that of positions (0, 0) if there is none; an InputEmbedding that is given up hands its own over.
  const Tensor<float, 2>& token_table() const& noexcept { return token_table_; }
  const Tensor<float, 2>& position_table() const& noexcept { return position_table_; }
  Tensor<float, 2> token_table() && { return std::move(token_table_); }
  Tensor<float, 2> position_table() && { return std::move(position_table_); }

  /// For an optimizer. Nobody may read the tables meanwhile.
  View<float, 2> mutable_token_table() { return token_table_; }
  View<float, 2> mutable_position_table() { return position_table_; }

  /// ids (B, T) -> out (B, T, d), T <= context. The bits do not depend on `threads` (0: all) or the processor.
  /// Throws std::out_of_range naming an id that is no row with its (b, t), or T and the context (truncate_rows() in
  /// feed/windows.h shortens rows); std::invalid_argument for an `out` of another shape. Nothing is written then.
  void forward(IdView ids, View<float, 3> out, unsigned threads = 0) const;

  /// The same with options. Throws also std::out_of_range naming a position that is no row of the table and its (b, t);
  /// std::invalid_argument for positions or a dropout mask of another shape, positions or an offset without a table, or
  /// both of them, or a bad eps.
  void forward(IdView ids, View<float, 3> out, const InputOptions& options, unsigned threads = 0) const;

  /// Allocates out.
  Tensor<float, 3> forward(IdView ids, unsigned threads = 0) const;

 private:
  EmbeddingSizes sizes_;
  Tensor<float, 2> token_table_;
  Tensor<float, 2> position_table_;
};

}  // namespace firstlayer
