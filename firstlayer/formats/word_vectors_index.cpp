#include "firstlayer/formats/word_vectors_index.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/file_limits.h"

namespace firstlayer {
namespace {

constexpr const char* kGetAgain = "the file is damaged or was cut off, get it again";
constexpr const char* kWidth = "every line has a word and as many numbers as the first";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& place, const std::string& expected,
                         const std::string& received, std::string_view mend) {
  throw FormatError(path, place + ": expected " + expected + ", received " + received + "; " + std::string(mend));
}

bool is_separator(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Takes a line off the front of `rest`, without what separates at its end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  while (!line.empty() && is_separator(line.back())) line.remove_suffix(1);
  return line;
}

/// Takes the last field off `line`, and what separates it from the one before.
std::string_view take_last_field(std::string_view& line) {
  std::size_t begin = line.size();
  while (begin > 0 && !is_separator(line[begin - 1])) --begin;
  const std::string_view field = line.substr(begin);
  while (begin > 0 && is_separator(line[begin - 1])) --begin;
  line = line.substr(0, begin);
  return field;
}

std::size_t field_count(std::string_view line) {
  std::size_t count = 0;
  for (; !line.empty(); ++count) take_last_field(line);
  return count;
}

bool is_number(std::string_view field) { return take_number(field).has_value() && field.empty(); }

bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_separator(c) || c == '\n'; });
}

/// "V d" of word2vec.
struct Header {
  std::uint64_t rows;
  std::uint64_t dim;
};

std::optional<Header> parse_header(std::string_view line) {
  Header header{};
  const char* end = line.data() + line.size();
  const auto [after_rows, rows_error] = std::from_chars(line.data(), end, header.rows);
  if (rows_error != std::errc() || after_rows == end || !is_separator(*after_rows)) return std::nullopt;
  const auto [after_dim, dim_error] = std::from_chars(after_rows + 1, end, header.dim);
  if (dim_error != std::errc() || after_dim != end) return std::nullopt;
  return header;
}

std::string words(std::uint64_t rows, std::uint64_t dim) {
  return std::to_string(rows) + " rows of " + std::to_string(dim) + " numbers";
}

class Indexer {
 public:
  Indexer(std::string_view file, const std::filesystem::path& path) : file_(file), path_(path), rest_(file) {}

  WordVectorsIndex run(std::optional<WordVectorsLayout> layout) {
    if (is_blank(file_.substr(0, 1)) && is_blank(file_)) {
      refuse(path_, "file", "word vectors", file_.empty() ? "an empty file" : "nothing but white space", kGetAgain);
    }
    std::string_view after_header = file_;
    const std::string_view first_line = take_line(after_header);
    const std::optional<Header> header = parse_header(first_line);
    index_.layout = layout ? *layout : detect(header, after_header);
    if (index_.layout == WordVectorsLayout::kGlove) {
      index_lines(std::nullopt);
      return std::move(index_);
    }
    if (!header) {
      refuse(path_, "header", "the numbers of rows and of columns on the first line", quoted_text(first_line),
             "a file without it is GloVe's");
    }
    rest_ = after_header;
    check_header(*header);
    index_.dim = static_cast<std::size_t>(header->dim);
    if (index_.layout == WordVectorsLayout::kText) {
      ++line_;
      index_lines(header);
    } else {
      index_binary(*header);
    }
    return std::move(index_);
  }

 private:
  static WordVectorsLayout detect(const std::optional<Header>& header, std::string_view after_header) {
    if (!header) return WordVectorsLayout::kGlove;
    if (is_blank(after_header.substr(0, 64))) return WordVectorsLayout::kText;
    std::string_view line = take_line(after_header);
    for (std::uint64_t i = 0; i < header->dim; ++i) {
      if (line.empty() || !is_number(take_last_field(line))) return WordVectorsLayout::kBinary;
    }
    return line.empty() ? WordVectorsLayout::kBinary : WordVectorsLayout::kText;
  }

  /// Before anything is done as often as the header says: each number takes two bytes of a text and four of others.
  void check_header(const Header& header) const {
    if (header.dim == 0) refuse(path_, "header", "at least one column", "0", kGetAgain);
    const std::uint64_t number_bytes = index_.layout == WordVectorsLayout::kText ? 2 : 4;
    std::uint64_t least = 0;
    if (__builtin_mul_overflow(header.dim, number_bytes, &least) ||
        __builtin_mul_overflow(least, header.rows, &least) || least > rest_.size() + 1 ||
        header.rows >= std::numeric_limits<std::uint32_t>::max()) {
      refuse(path_, "header", "as many rows and columns as the file has room for", words(header.rows, header.dim),
             "the header lies or the file was cut off, get it again");
    }
  }

  void index_lines(const std::optional<Header>& header) {
    while (!rest_.empty()) {
      const std::string_view before = rest_;
      const std::string_view line = take_line(rest_);
      ++line_;
      if (line.empty() && is_blank(rest_)) break;
      if (header && index_.rows.size() == header->rows) {
        refuse(path_, place(), "the end of the file after " + words(header->rows, header->dim), quoted_text(line),
               "the header lies");
      }
      if (index_.rows.size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
        refuse(path_, place(), "fewer than 2^32 rows", "more", "split the file");
      }
      if (index_.dim == 0) index_.dim = width_of(line);
      const std::string_view word = word_of(line);
      add_row(static_cast<std::size_t>(before.data() - file_.data()), word);
    }
    if (header && index_.rows.size() < header->rows) {
      refuse(path_, "header", words(header->rows, header->dim), std::to_string(index_.rows.size()) + " rows",
             "the header lies or the file was cut off, get it again");
    }
  }

  /// The columns of a file without a header: the numbers at the end of its first line, but for its word.
  std::size_t width_of(std::string_view line) const {
    const std::size_t fields = field_count(line);
    std::size_t numbers = 0;
    for (std::string_view rest = line; !rest.empty() && is_number(take_last_field(rest)); ++numbers) {
    }
    const std::size_t width = std::min(numbers, fields > 0 ? fields - 1 : 0);
    if (width == 0) refuse(path_, place(), "a word and numbers", quoted_text(line), "this is no file of word vectors");
    return width;
  }

  /// What stands before the numbers of a line. Words of GloVe's largest files have spaces inside; a word that ends in a
  /// number after a space is a line with too many of them.
  std::string_view word_of(std::string_view line) const {
    std::string_view word = line;
    for (std::size_t i = 0; i < index_.dim && !word.empty(); ++i) take_last_field(word);
    std::string_view before_last = word;
    const std::string_view last = take_last_field(before_last);
    const bool starts_with_space = !line.empty() && is_separator(line.front());
    if (word.empty() || starts_with_space || (!before_last.empty() && is_number(last))) {
      const std::size_t fields = field_count(line);
      const std::string numbers = std::to_string(fields - (fields > 0 && !starts_with_space ? 1 : 0)) + " numbers";
      refuse(path_, place(), "a word and " + std::to_string(index_.dim) + " numbers",
             starts_with_space ? "no word and " + numbers
             : fields == 0     ? "an empty line"
                               : "a word and " + numbers,
             kWidth);
    }
    return word;
  }

  void index_binary(const Header& header) {
    const std::size_t vector_bytes = index_.dim * sizeof(float);
    for (line_ = 1; line_ <= header.rows; ++line_) {
      while (rest_.starts_with('\n')) rest_.remove_prefix(1);  // word2vec writes one, gensim none
      const std::size_t space = rest_.find(' ');
      if (space == std::string_view::npos) {
        refuse(path_, place(), "a word and a space", rest_.empty() ? "the end of the file" : quoted_text(rest_),
               kGetAgain);
      }
      if (space == 0) refuse(path_, place(), "a word", "none", kGetAgain);
      const std::size_t left = rest_.size() - space - 1;
      if (left < vector_bytes) {
        refuse(path_, place(), std::to_string(vector_bytes) + " bytes for " + std::to_string(index_.dim) + " numbers",
               std::to_string(left), kGetAgain);
      }
      add_row(static_cast<std::size_t>(rest_.data() - file_.data()), rest_.substr(0, space));
      rest_.remove_prefix(space + 1 + vector_bytes);
    }
    if (!is_blank(rest_)) {
      refuse(path_, "file", "its end after " + words(header.rows, header.dim),
             std::to_string(rest_.size()) + " bytes more", "the header lies");
    }
  }

  void add_row(std::size_t begin, std::string_view word) {
    if (word.size() > std::numeric_limits<std::uint32_t>::max()) {
      refuse(path_, place(), "a word of less than 4 GiB", quoted_text(word), kGetAgain);
    }
    index_.rows.push_back({begin, static_cast<std::uint32_t>(word.size()), static_cast<std::uint32_t>(line_)});
  }

  std::string place() const {
    return (index_.layout == WordVectorsLayout::kBinary ? "row " : "line ") + std::to_string(line_);
  }

  std::string_view file_;
  const std::filesystem::path& path_;
  std::string_view rest_;
  std::uint64_t line_ = 0;
  WordVectorsIndex index_;
};

}  // namespace

std::optional<float> take_number(std::string_view& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;  // from_chars knows no plus
  float value = 0.0F;
  auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) {  // too large, or too small, which is zero or nearly
    double wide = 0.0;
    error = std::from_chars(begin, end, wide).ec;
    value = static_cast<float>(wide);
    if (std::isinf(value)) return std::nullopt;
  }
  if (error != std::errc() || (stop != end && !is_separator(*stop) && *stop != '\n')) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

WordVectorsIndex index_word_vectors(std::string_view file, const std::filesystem::path& path,
                                    std::optional<WordVectorsLayout> layout) {
  return Indexer(file, path).run(layout);
}

void read_word_vector(std::string_view file, const std::filesystem::path& path, const WordVectorsIndex& index,
                      std::size_t row, std::span<float> out) {
  const WordVectorsRow& place = index.rows[row];
  std::string_view numbers = file.substr(static_cast<std::size_t>(place.begin) + place.word_length);
  if (index.layout == WordVectorsLayout::kBinary) {
    std::memcpy(out.data(), numbers.data() + 1, out.size_bytes());
    return;
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    numbers.remove_prefix(std::min(numbers.find_first_not_of(" \t\r"), numbers.size()));
    const std::optional<float> number = take_number(numbers);
    if (!number) {
      refuse(path, "line " + std::to_string(place.line) + ", number " + std::to_string(k + 1),
             "a number that float32 holds", quoted_text(numbers.substr(0, numbers.find_first_of(" \t\r\n"))),
             kGetAgain);
    }
    out[k] = *number;
  }
}

}  // namespace firstlayer
