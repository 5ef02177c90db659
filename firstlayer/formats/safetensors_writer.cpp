#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "firstlayer/base/utf8.h"
#include "firstlayer/formats/file_limits.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/formats/safetensors_header.h"

namespace firstlayer {
namespace {

constexpr const char* kWhere = "SafetensorsWriter";

void check_header_length(std::size_t bytes) {
  if (bytes > kMaxSafetensorsHeader) {
    throw_invalid(kWhere, "a header of at most " + std::to_string(kMaxSafetensorsHeader) + " bytes", "more");
  }
}

/// Appends `text` as a JSON string.
void append_string(std::string& json, std::string_view text) {
  check_header_length(json.size() + text.size());
  if (!is_valid_utf8(text)) throw_invalid(kWhere, "names and metadata in UTF-8", quoted_text(text));
  json += nlohmann::json(text).dump();
}

/// In file order: the widest type first, so that each tensor is aligned to its type; then by name.
std::vector<TensorSpec> in_file_order(std::vector<TensorSpec> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorSpec& left, const TensorSpec& right) {
    return left.dtype != right.dtype ? left.dtype > right.dtype : left.name < right.name;
  });
  return tensors;
}

void check_names(std::span<const TensorSpec> tensors) {
  std::vector<std::string_view> names;
  for (const TensorSpec& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw_invalid(kWhere, "names that differ", quoted_text(*twice) + " twice");
  if (std::binary_search(names.begin(), names.end(), kMetadataKey)) {
    throw_invalid(kWhere, "a tensor's name", quoted_text(kMetadataKey) + ", which the format reserves");
  }
}

std::string shape_json(std::span<const std::size_t> shape) {
  std::string text = "[";
  for (std::size_t extent : shape) {
    if (text.size() > 1) text += ',';
    text += std::to_string(extent);
  }
  return text + "]";
}

void append_metadata(std::string& json, const std::map<std::string, std::string>& metadata) {
  append_string(json, kMetadataKey);
  json += ':';
  char separator = '{';
  for (const auto& [key, text] : metadata) {
    json += separator;
    append_string(json, key);
    json += ':';
    append_string(json, text);
    separator = ',';
  }
  json += '}';
}

/// The entry of a tensor whose bytes begin at `begin`; where they end.
std::uint64_t append_entry(std::string& json, const TensorSpec& tensor, std::uint64_t begin) {
  if (tensor.shape.size() > kMaxAxes) {
    throw_invalid(kWhere, "at most " + std::to_string(kMaxAxes) + " axes",
                  std::to_string(tensor.shape.size()) + " in " + quoted_text(tensor.name));
  }
  std::optional<std::uint64_t> bytes = tensor_bytes(tensor.dtype, tensor.shape);
  std::uint64_t end = 0;
  if (!bytes || __builtin_add_overflow(begin, *bytes, &end)) {
    throw_invalid(kWhere, "tensors whose bytes together fit 64 bits",
                  quoted_text(tensor.name) + " of shape " + shape_text(tensor.shape));
  }
  append_string(json, tensor.name);
  json.append(":{\"dtype\":\"").append(dtype_name(tensor.dtype));
  json.append("\",\"shape\":").append(shape_json(tensor.shape)).append(",\"data_offsets\":[");
  json.append(std::to_string(begin)).append(",").append(std::to_string(end)).append("]}");
  return end;
}

/// Length and JSON, padded with spaces so that the tensors begin at a multiple of 8.
std::string header_bytes(std::span<const TensorSpec> tensors, const std::map<std::string, std::string>& metadata) {
  std::string json = "{";
  if (!metadata.empty()) append_metadata(json, metadata);
  std::uint64_t begin = 0;
  for (const TensorSpec& tensor : tensors) {
    if (json.size() > 1) json += ',';
    begin = append_entry(json, tensor, begin);
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  check_header_length(json.size());
  std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + json;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorSpec> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : tensors_(in_file_order(std::move(tensors))), file_(path) {
  check_names(tensors_);
  std::string header = header_bytes(tensors_, metadata);
  file_.append(std::as_bytes(std::span<const char>(header)));
  begin_tensor(0);
}

void SafetensorsWriter::append(std::span<const std::byte> bytes) {
  if (bytes.size() > missing_bytes_) {
    std::string left = current_ < tensors_.size() ? " left of tensor " + quoted_text(tensors_[current_].name)
                                                  : ", every tensor being whole";
    throw_invalid("SafetensorsWriter::append", "at most " + std::to_string(missing_bytes_) + " bytes" + left,
                  std::to_string(bytes.size()));
  }
  if (bytes.empty()) return;
  file_.append(bytes);
  missing_bytes_ -= bytes.size();
  if (missing_bytes_ == 0) begin_tensor(current_ + 1);
}

void SafetensorsWriter::commit() {
  if (current_ < tensors_.size()) {
    throw_invalid("SafetensorsWriter::commit", "every tensor whole",
                  quoted_text(tensors_[current_].name) + " with " + std::to_string(missing_bytes_) + " bytes missing");
  }
  file_.commit();
}

void SafetensorsWriter::begin_tensor(std::size_t index) {
  current_ = index;
  while (current_ < tensors_.size()) {
    missing_bytes_ = *tensor_bytes(tensors_[current_].dtype, tensors_[current_].shape);
    if (missing_bytes_ > 0) return;
    ++current_;
  }
}

}  // namespace firstlayer
