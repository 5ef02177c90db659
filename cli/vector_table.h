#pragma once
// A table of vectors with the words of its rows: a model's token table, or word vectors.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/flags.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/formats/word_vectors.h"

namespace firstlayer::cli {

struct VectorTableFlags {
  std::optional<std::string> weights;
  std::optional<std::string> tensor;
  std::string vocabulary = "gpt2";
};

/// --tensor alone.
void add_tensor_flag(CLI::App& app, std::optional<std::string>& tensor, const std::string& group);

/// --weights, --tensor and --vocab.
void add_vector_table_flags(CLI::App& app, VectorTableFlags& flags);

class VectorTable {
 public:
  /// Reads the table on `threads` threads. Throws Failure for flags that do not fit, FileError and FormatError.
  VectorTable(const VectorTableFlags& flags, unsigned threads);

  const Tensor<float, 2>& rows() const noexcept { return rows_; }
  std::size_t size() const { return rows_.dim(0); }

  /// The file, and the tensor if it has several: "model.safetensors, wte.weight".
  const std::string& origin() const noexcept { return origin_; }

  /// The bytes of a row's token or word; empty for a row without.
  std::string_view word(TokenId row) const;

  /// The row of exactly these bytes. Throws Failure that says what there is instead: the tokens that a text is made of,
  /// or the nearest spelling.
  TokenId row_of(std::string_view word) const;

 private:
  void read_tensor(const std::string& path, const VectorTableFlags& flags, unsigned threads);
  void name_rows(const std::string& vocabulary);
  std::optional<TokenId> find(std::string_view word) const;
  [[noreturn]] void refuse(std::string_view word) const;

  std::string origin_;
  Tensor<float, 2> rows_;
  std::variant<std::monostate, Tokenizer, WordVectorsFile> words_;
  std::string vocabulary_;
};

}  // namespace firstlayer::cli
