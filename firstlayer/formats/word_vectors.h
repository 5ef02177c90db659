#pragma once
// Word vectors as word2vec, fastText and GloVe keep them, read by mapping the file: words at once, numbers when asked.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "firstlayer/base/memory_map.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/formats/word_vectors_writer.h"

namespace firstlayer {

/// Where a row lies in its file.
struct WordVectorsRow {
  std::uint64_t begin;        ///< of the word
  std::uint32_t word_length;  ///< a byte that separates follows
  std::uint32_t line;         ///< from 1, of the row; of a binary file, the number of the row
};

struct WordVectorsIndex {
  WordVectorsLayout layout = WordVectorsLayout::kGlove;
  std::size_t dim = 0;
  std::vector<WordVectorsRow> rows;
};

/// The words of one file and their vectors (V, d). Words live as long as this object.
class WordVectorsFile {
 public:
  /// Finds every row, in memory of at most 48 bytes a row whatever the file claims, and reads no number of a text. A
  /// layout that is not given is found out: a first line of two whole numbers is word2vec's, in text if the line after
  /// it is one. Throws FileError, and FormatError naming the line or row: a width unlike the others, a header that
  /// does not fit, a file that was cut off, a word that is empty.
  static WordVectorsFile open(const std::filesystem::path& path, std::optional<WordVectorsLayout> layout = {});

  WordVectorsLayout layout() const noexcept { return index_.layout; }
  std::size_t size() const noexcept { return index_.rows.size(); }  ///< V
  std::size_t dim() const noexcept { return index_.dim; }           ///< d

  /// Any bytes without a space, UTF-8 or not; in a GloVe file spaces may be inside. Throws std::out_of_range.
  std::string_view word(std::size_t row) const;

  /// The first row of that word.
  std::optional<TokenId> find(std::string_view word) const;

  /// Row `row` into out (d,). Throws std::out_of_range, std::invalid_argument for another width, and FormatError naming
  /// the line and what stands there instead of a number of float32.
  void read_row(std::size_t row, std::span<float> out) const;

  /// rows[i] into out[i]; out (n, d). Throws as read_row().
  void read_rows(std::span<const TokenId> rows, View<float, 2> out) const;

  /// All rows, on `threads` threads, 0: all. Throws as read_row(); of several faults, the one that is found first.
  Tensor<float, 2> read_all(unsigned threads = 0) const;

 private:
  void index_words();

  std::filesystem::path path_;
  MappedFile file_;
  WordVectorsIndex index_;
  std::vector<std::uint32_t> slots_;  ///< a hash table of row + 1, 0 where it is empty
};

}  // namespace firstlayer
