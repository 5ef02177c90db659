#pragma once
// Word vectors as word2vec and GloVe write them, for gensim, faiss scripts and every other tool that reads them.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "firstlayer/base/atomic_file.h"

namespace firstlayer {

enum class WordVectorsLayout {
  kBinary,  ///< word2vec's: "rows dim\n", then each word, a space, dim float32 and "\n"
  kText,    ///< word2vec's: "rows dim\n", then a line for each word, with numbers that read back as the same float32
  kGlove,   ///< the lines of kText without the first
};

/// Writes `rows` words with vectors of `dim` numbers, one after the other.
class WordVectorsWriter {
 public:
  /// Throws FileError, and std::invalid_argument if dim is 0.
  WordVectorsWriter(const std::filesystem::path& path, std::size_t rows, std::size_t dim, WordVectorsLayout layout);

  /// The next row. Throws FileError, and std::invalid_argument for a vector of another width, one row too many, and a
  /// word that is empty or has white space, which no reader could tell from the end of the word.
  void append(std::string_view word, std::span<const float> vector);

  /// Puts the file in place. Throws FileError, and std::invalid_argument if rows are missing.
  void commit();

 private:
  std::size_t rows_;
  std::size_t dim_;
  std::size_t written_ = 0;
  WordVectorsLayout layout_;
  AtomicFile file_;
};

}  // namespace firstlayer
