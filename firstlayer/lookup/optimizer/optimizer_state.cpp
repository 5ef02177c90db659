#include "firstlayer/lookup/optimizer/optimizer_state.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <string>
#include <system_error>

#include "firstlayer/lookup/optimizer/option_fields.h"

namespace firstlayer {
namespace {

/// Rows that are copied together on their way to the file.
constexpr std::size_t kRowsAtOnce = 256;

/// One number a row makes a vector (V,), as it does in FBGEMM.
std::vector<std::size_t> shape_of(const StateRows& part, std::size_t rows) {
  if (part.width == 1 && part.stride == 1) return {rows};
  return {rows, part.width};
}

void append_rows(SafetensorsWriter& writer, const StateRows& part, std::size_t rows) {
  std::vector<float> together;
  for (std::size_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    together.clear();
    for (std::size_t row = begin; row < std::min(rows, begin + kRowsAtOnce); ++row) {
      const float* numbers = part.data + row * part.stride;
      together.insert(together.end(), numbers, numbers + part.width);
    }
    writer.append(std::as_bytes(std::span<const float>(together)));
  }
}

std::string of_table(std::string_view optimizer, std::size_t rows, std::size_t dim) {
  const std::size_t shape[] = {rows, dim};
  return std::string(optimizer).append(" for a table ").append(shape_text(shape));
}

}  // namespace

void save_optimizer_state(const std::filesystem::path& path, const OptimizerOptions& options, const Shape<2>& table,
                          std::uint64_t steps, const std::vector<StateRows>& state) {
  std::map<std::string, std::string> metadata = option_texts(options);
  metadata["optimizer"] = optimizer_name(options);
  metadata["step"] = std::to_string(steps);
  metadata["rows"] = std::to_string(table[0]);
  metadata["dim"] = std::to_string(table[1]);
  std::vector<TensorSpec> tensors;
  tensors.reserve(state.size());
  for (const StateRows& part : state) tensors.push_back({part.name, Dtype::kF32, shape_of(part, table[0])});
  SafetensorsWriter writer(path, tensors, metadata);
  for (const TensorSpec& tensor : writer.tensors()) {
    append_rows(writer, *std::ranges::find(state, tensor.name, &StateRows::name), table[0]);
  }
  writer.commit();
}

OptimizerStateFile::OptimizerStateFile(const std::filesystem::path& path, const OptimizerOptions& expected,
                                       const Shape<2>& table)
    : file_(SafetensorsFile::open(path)), rows_(table[0]), options_(expected) {
  const std::string_view name = optimizer_name(expected);
  const std::uint64_t rows = read_count("rows");
  const std::uint64_t dim = read_count("dim");
  if (metadata("optimizer") != name || rows != table[0] || dim != table[1]) {
    throw FormatError(path, "expected the state of " + of_table(name, table[0], table[1]) + ", received that of " +
                                of_table(metadata("optimizer"), rows, dim) +
                                "; load it into an optimizer of that kind and shape");
  }
  const std::string wrong = read_option_texts(file_.metadata(), options_);
  if (!wrong.empty()) throw FormatError(path, "expected a value of option " + wrong + " in the metadata");
  try {
    check_options(options_);
  } catch (const std::invalid_argument& error) {
    throw FormatError(path, std::string("an option in the metadata is out of range: ") + error.what());
  }
  steps_ = read_count("step");
}

void OptimizerStateFile::copy_to(const std::vector<StateRows>& state) const {
  for (const StateRows& part : state) check_part(part);
  for (const StateRows& part : state) {
    const std::byte* from = file_.find(part.name)->bytes.data();
    for (std::size_t row = 0; row < rows_; ++row, from += part.width * sizeof(float)) {
      std::memcpy(part.data + row * part.stride, from, part.width * sizeof(float));
    }
  }
}

void OptimizerStateFile::check_part(const StateRows& part) const {
  const std::vector<std::size_t> shape = shape_of(part, rows_);
  const StoredTensor* stored = file_.find(part.name);
  if (stored != nullptr && stored->dtype == Dtype::kF32 && stored->shape == shape) return;
  std::string received = "none";
  if (stored != nullptr)
    received = std::string(dtype_name(stored->dtype)).append(" ").append(shape_text(stored->shape));
  throw FormatError(file_.path(), std::string("expected a tensor ")
                                      .append(part.name)
                                      .append(" of F32 ")
                                      .append(shape_text(shape))
                                      .append(", received ")
                                      .append(received));
}

const std::string& OptimizerStateFile::metadata(const std::string& key) const {
  const auto found = file_.metadata().find(key);
  if (found == file_.metadata().end()) {
    throw FormatError(file_.path(), "expected the metadata \"" + key + "\" of an optimizer's state, received none");
  }
  return found->second;
}

std::uint64_t OptimizerStateFile::read_count(const std::string& key) const {
  const std::string& text = metadata(key);
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, count);
  if (result.ec != std::errc() || result.ptr != end) {
    throw FormatError(file_.path(), "expected a count as the metadata \"" + key + "\", received \"" + text + "\"");
  }
  return count;
}

}  // namespace firstlayer
