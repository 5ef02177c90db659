#include "firstlayer/formats/word_vectors_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer {
namespace {

constexpr std::size_t kNumberBytes = 24;  // the shortest form of any float32 is shorter

std::size_t checked_dim(std::size_t dim) {
  if (dim == 0) throw_invalid("WordVectorsWriter", "vectors of at least one number", "dim 0");
  return dim;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool has_space(std::string_view word) {
  return std::ranges::any_of(word, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

}  // namespace

WordVectorsWriter::WordVectorsWriter(const std::filesystem::path& path, std::size_t rows, std::size_t dim,
                                     WordVectorsLayout layout)
    : rows_(rows), dim_(checked_dim(dim)), layout_(layout), file_(path) {
  if (layout != WordVectorsLayout::kGlove) {
    file_.append(bytes_of(std::to_string(rows) + " " + std::to_string(dim) + "\n"));
  }
}

void WordVectorsWriter::append(std::string_view word, std::span<const float> vector) {
  static constexpr const char* kWhere = "WordVectorsWriter::append";
  if (written_ == rows_) throw_invalid(kWhere, std::to_string(rows_) + " rows", "one more");
  if (vector.size() != dim_) {
    throw_invalid(kWhere, "vectors of " + std::to_string(dim_) + " numbers", std::to_string(vector.size()));
  }
  if (word.empty() || has_space(word)) {
    throw_invalid(kWhere, "a word without white space", in_quotes(word) + " in row " + std::to_string(written_));
  }
  std::string line(word);
  if (layout_ == WordVectorsLayout::kBinary) {
    line += ' ';
    line.append(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
  } else {
    std::array<char, kNumberBytes> digits;
    for (const float value : vector) {
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
      line.append(" ").append(digits.data(), end);
    }
  }
  line += '\n';
  file_.append(bytes_of(line));
  ++written_;
}

void WordVectorsWriter::commit() {
  if (written_ < rows_) {
    throw_invalid("WordVectorsWriter::commit", std::to_string(rows_) + " rows", std::to_string(written_));
  }
  file_.commit();
}

}  // namespace firstlayer
