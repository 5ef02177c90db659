// index_word_vectors(): any bytes give rows that lie in the file one behind the other, or an error fit to print.

#include <cstdint>
#include <string_view>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/word_vectors_index.h"
#include "fuzz/fuzz.h"

namespace firstlayer {
namespace {

using fuzzing::require;

void check_rows(std::string_view file, const WordVectorsIndex& index) {
  std::uint64_t end = 0;
  for (const WordVectorsRow& row : index.rows) {
    require(row.begin >= end && row.word_length > 0, "rows follow each other and have words");
    end = row.begin + row.word_length + 1;
    require(end <= file.size(), "and lie in the file");
  }
  // Rows that are all there are no more than the file has room for.
  if (index.rows.empty()) return;
  require(index.dim > 0 && index.dim <= file.size(), "each row has numbers");
  std::vector<float> numbers(index.dim);
  for (std::size_t row = 0; row < index.rows.size(); ++row) read_word_vector(file, "x", index, row, numbers);
}

void index_as(std::string_view file, std::optional<WordVectorsLayout> layout) {
  try {
    check_rows(file, index_word_vectors(file, "x", layout));
  } catch (const FormatError& error) {
    fuzzing::require_printable(error.what());
  }
}

}  // namespace
}  // namespace firstlayer

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  firstlayer::index_as(file, {});
  for (const auto layout : {firstlayer::WordVectorsLayout::kText, firstlayer::WordVectorsLayout::kBinary,
                            firstlayer::WordVectorsLayout::kGlove}) {
    firstlayer::index_as(file, layout);
  }
  return 0;
}
