#include "firstlayer/formats/word_vectors.h"

#include <bit>
#include <functional>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/formats/word_vectors_index.h"

namespace firstlayer {
namespace {

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void check_row(std::size_t row, std::size_t size) {
  if (row >= size) {
    throw_out_of_range("WordVectorsFile", "a row below V = " + std::to_string(size), std::to_string(row));
  }
}

}  // namespace

WordVectorsFile WordVectorsFile::open(const std::filesystem::path& path, std::optional<WordVectorsLayout> layout) {
  WordVectorsFile opened;
  opened.path_ = path;
  opened.file_ = MappedFile(path);
  opened.index_ = index_word_vectors(text_of(opened.file_), path, layout);
  opened.index_words();
  return opened;
}

void WordVectorsFile::index_words() {
  slots_.assign(std::bit_ceil(size() + size() / 2 + 1), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t row = 0; row < size(); ++row) {
    std::size_t slot = std::hash<std::string_view>()(word(row)) & mask;
    while (slots_[slot] != 0 && word(slots_[slot] - 1) != word(row)) slot = (slot + 1) & mask;
    if (slots_[slot] == 0) slots_[slot] = static_cast<std::uint32_t>(row + 1);  // the first of a word stays
  }
}

std::string_view WordVectorsFile::word(std::size_t row) const {
  check_row(row, size());
  const WordVectorsRow& place = index_.rows[row];
  return text_of(file_).substr(static_cast<std::size_t>(place.begin), place.word_length);
}

std::optional<TokenId> WordVectorsFile::find(std::string_view wanted) const {
  if (slots_.empty()) return std::nullopt;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = std::hash<std::string_view>()(wanted) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (word(slots_[slot] - 1) == wanted) return slots_[slot] - 1;
  }
  return std::nullopt;
}

void WordVectorsFile::read_row(std::size_t row, std::span<float> out) const {
  check_row(row, size());
  if (out.size() != dim()) {
    throw_invalid("WordVectorsFile::read_row", "room for " + std::to_string(dim()) + " numbers",
                  std::to_string(out.size()));
  }
  read_word_vector(text_of(file_), path_, index_, row, out);
}

void WordVectorsFile::read_rows(std::span<const TokenId> rows, View<float, 2> out) const {
  if (out.shape() != Shape<2>{rows.size(), dim()}) {
    throw_invalid("WordVectorsFile::read_rows", "room for rows of shape " + shape_text(Shape<2>{rows.size(), dim()}),
                  shape_text(out.shape()));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) read_row(rows[i], out[i]);
}

Tensor<float, 2> WordVectorsFile::read_all(unsigned threads) const {
  Tensor<float, 2> table({size(), dim()});
  parallel_for(size(), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) read_row(row, table.view()[row]);
  });
  return table;
}

}  // namespace firstlayer
