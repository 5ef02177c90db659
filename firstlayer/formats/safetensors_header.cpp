#include "firstlayer/formats/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "firstlayer/formats/file_limits.h"

namespace firstlayer {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr std::string_view kGetAgain = "the file is damaged or was cut off, get it again";
constexpr std::string_view kRewrite = "write the file again with a safetensors library";

/// A tensor as its header entry tells it.
struct Entry {
  std::string name;
  std::optional<Dtype> dtype;
  std::optional<std::vector<std::size_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;  ///< begin, end
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& where, const std::string& expected,
                         const std::string& received, std::string_view mend) {
  throw FormatError(path, where + ": expected " + expected + ", received " + received + "; " + std::string(mend));
}

std::string tensor_words(std::string_view name) { return "tensor " + quoted_text(name); }

/// Takes the header's JSON piece by piece. Each state allows one kind of value, so anything else, and with it any
/// nesting, is refused where it begins; no tree is built.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::filesystem::path& path) : path_(path) {}

  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { unexpected(cut(text)); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kSize) {
      if (entries.back().shape->size() == kMaxAxes) unexpected("one more");
      entries.back().shape->push_back(value);
    } else if (state_ == State::kOffset) {
      if (entries.back().offsets->size() == 2) unexpected("a third");
      entries.back().offsets->push_back(value);
    } else {
      unexpected(std::to_string(value));
    }
    return true;
  }

  bool string(string_t& text) override {
    if (state_ == State::kDtype) {
      entries.back().dtype = find_dtype(text);
      if (!entries.back().dtype) {
        refuse(path_, place(), "BOOL, U8, I8, I16, U16, F16, BF16, I32, U32, F32, F64, I64 or U64", quoted_text(text),
               "convert the tensor to one of these");
      }
      state_ = State::kEntryKey;
    } else if (state_ == State::kMetadataText) {
      metadata[key_] = std::move(text);
      state_ = State::kMetadataName;
    } else {
      unexpected("the text " + quoted_text(text));
    }
    return true;
  }

  bool start_object(std::size_t) override {
    switch (state_) {
      case State::kDocument:
        state_ = State::kTensorName;
        return true;
      case State::kEntry:
        state_ = State::kEntryKey;
        return true;
      case State::kMetadata:
        state_ = State::kMetadataName;
        return true;
      default:
        unexpected("an object");
    }
  }

  bool key(string_t& key) override {
    switch (state_) {
      case State::kTensorName:
        begin_entry(key);
        break;
      case State::kEntryKey:
        begin_field(key);
        break;
      default:  // State::kMetadataName
        if (metadata.contains(key)) refuse(path_, std::string(kMetadataKey), "each key once", twice(key), kRewrite);
        key_ = std::move(key);
        state_ = State::kMetadataText;
    }
    return true;
  }

  bool end_object() override {
    if (state_ == State::kEntryKey) {
      const Entry& entry = entries.back();
      if (!entry.dtype) missing("dtype");
      if (!entry.shape) missing("shape");
      if (!entry.offsets) missing("data_offsets");
    }
    state_ = state_ == State::kTensorName ? State::kDocument : State::kTensorName;
    return true;
  }

  bool start_array(std::size_t) override {
    if (state_ == State::kShape) {
      entries.back().shape.emplace();
      state_ = State::kSize;
    } else if (state_ == State::kOffsets) {
      entries.back().offsets.emplace();
      state_ = State::kOffset;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool end_array() override {
    if (state_ == State::kOffset && entries.back().offsets->size() != 2) {
      unexpected("a list of " + std::to_string(entries.back().offsets->size()));
    }
    state_ = State::kEntryKey;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception&) override {
    refuse(path_, "header", "JSON in UTF-8",
           quoted_text(token) + " at byte " + std::to_string(kLengthBytes + position) + " of the file", kGetAgain);
  }

 private:
  enum class State {
    kDocument,
    kTensorName,
    kEntry,
    kEntryKey,
    kDtype,
    kShape,
    kSize,
    kOffsets,
    kOffset,
    kMetadata,
    kMetadataName,
    kMetadataText
  };

  void begin_entry(std::string& name) {
    if (name != kMetadataKey) {
      entries.push_back(Entry{std::move(name), {}, {}, {}});
      state_ = State::kEntry;
      return;
    }
    if (std::exchange(metadata_seen_, true)) refuse(path_, "header", "each key once", twice(kMetadataKey), kRewrite);
    state_ = State::kMetadata;
  }

  void begin_field(const std::string& key) {
    const Entry& entry = entries.back();
    bool seen = false;
    if (key == "dtype") {
      seen = entry.dtype.has_value();
      state_ = State::kDtype;
    } else if (key == "shape") {
      seen = entry.shape.has_value();
      state_ = State::kShape;
    } else if (key == "data_offsets") {
      seen = entry.offsets.has_value();
      state_ = State::kOffsets;
    } else {
      refuse(path_, tensor_words(entry.name), "the keys dtype, shape and data_offsets", quoted_text(key), kRewrite);
    }
    if (seen) refuse(path_, tensor_words(entry.name), "each key once", twice(key), kRewrite);
  }

  static std::string twice(std::string_view key) { return quoted_text(key) + " twice"; }

  static std::string cut(const std::string& number) {
    return number.size() <= 40 ? number : number.substr(0, 40) + "…";
  }

  /// Where in the header the reader is.
  std::string place() const {
    switch (state_) {
      case State::kMetadata:
        return std::string(kMetadataKey);
      case State::kMetadataText:
        return std::string(kMetadataKey) + ", key " + quoted_text(key_);
      case State::kEntry:
        return tensor_words(entries.back().name);
      case State::kDtype:
        return tensor_words(entries.back().name) + ", dtype";
      case State::kShape:
      case State::kSize:
        return tensor_words(entries.back().name) + ", shape";
      case State::kOffsets:
      case State::kOffset:
        return tensor_words(entries.back().name) + ", data_offsets";
      default:
        return "header";
    }
  }

  /// What may stand there.
  std::string expected() const {
    switch (state_) {
      case State::kMetadata:
        return "an object of strings";
      case State::kMetadataText:
        return "a string";
      case State::kEntry:
        return "an object with dtype, shape and data_offsets";
      case State::kDtype:
        return "the name of a type";
      case State::kShape:
      case State::kSize:
        return "a list of at most " + std::to_string(kMaxAxes) + " whole numbers below 2^64";
      case State::kOffsets:
      case State::kOffset:
        return "a list of two whole numbers below 2^64";
      default:
        return "a JSON object";
    }
  }

  [[noreturn]] void unexpected(const std::string& received) const {
    refuse(path_, place(), expected(), received, kRewrite);
  }

  [[noreturn]] void missing(const std::string& key) const {
    refuse(path_, tensor_words(entries.back().name), "the keys dtype, shape and data_offsets", "no " + key, kRewrite);
  }

  const std::filesystem::path& path_;
  State state_ = State::kDocument;
  bool metadata_seen_ = false;
  std::string key_;  ///< of the metadata
};

/// The JSON text between the length and the tensors.
std::string_view header_text(std::span<const std::byte> file, const std::filesystem::path& path) {
  if (file.size() < kLengthBytes) {
    refuse(path, "header length", "8 bytes", std::to_string(file.size()), kGetAgain);
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  std::string length_words = std::to_string(length);
  if (length > kMaxSafetensorsHeader) {
    refuse(path, "header length", "at most " + std::to_string(kMaxSafetensorsHeader) + " bytes", length_words,
           "this is not a safetensors file");
  }
  std::size_t after = file.size() - kLengthBytes;
  if (length > after) {
    refuse(path, "header", length_words + " bytes", std::to_string(after), kGetAgain);
  }
  std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, static_cast<std::size_t>(length));
  if (!text.starts_with('{')) {
    refuse(path, "header", "JSON that begins with {", quoted_text(text.substr(0, 1)), "this is not a safetensors file");
  }
  // The JSON parser takes a NUL for the end of its input and would not look at what follows.
  std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    refuse(path, "header", "JSON in UTF-8",
           "a zero byte at byte " + std::to_string(kLengthBytes + nul) + " of the file", kGetAgain);
  }
  return text;
}

void check_names_differ(const std::vector<Entry>& entries, const std::filesystem::path& path) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const Entry& entry : entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) refuse(path, "header", "each key once", quoted_text(*twice) + " twice", kRewrite);
}

void check_size(const Entry& entry, const std::filesystem::path& path) {
  const std::vector<std::uint64_t>& offsets = *entry.offsets;
  std::string range("[");
  range.append(std::to_string(offsets[0])).append(", ").append(std::to_string(offsets[1])).append("]");
  if (offsets[0] > offsets[1]) {
    refuse(path, tensor_words(entry.name), "data_offsets that ascend", range, kRewrite);
  }
  std::optional<std::uint64_t> bytes = tensor_bytes(*entry.dtype, *entry.shape);
  std::string what = std::string(dtype_name(*entry.dtype)) + " " + shape_text(*entry.shape);
  if (!bytes) refuse(path, tensor_words(entry.name), "a shape whose bytes fit 64 bits", what, kRewrite);
  if (*bytes != offsets[1] - offsets[0]) {
    refuse(path, tensor_words(entry.name), std::to_string(*bytes) + " bytes for " + what,
           std::to_string(offsets[1] - offsets[0]) + " from data_offsets " + range, kRewrite);
  }
}

/// The tensors by offset must lie one behind the other from the first byte to the last.
void check_tiling(const std::vector<Entry*>& by_offset, std::uint64_t data_bytes, const std::filesystem::path& path) {
  std::uint64_t end = 0;
  for (const Entry* entry : by_offset) {
    std::uint64_t begin = (*entry->offsets)[0];
    if (begin != end) {
      std::string fault = begin < end ? "which overlaps the tensor before" : "which leaves a hole";
      refuse(path, tensor_words(entry->name), "its bytes to begin at " + std::to_string(end),
             std::to_string(begin) + ", " + fault, kRewrite);
    }
    end = (*entry->offsets)[1];
  }
  if (end != data_bytes) {
    refuse(path, "tensors", std::to_string(end) + " bytes after the header", std::to_string(data_bytes),
           end > data_bytes ? kGetAgain : "something was appended to the file: get it again");
  }
}

}  // namespace

SafetensorsContent parse_safetensors(std::span<const std::byte> file, const std::filesystem::path& path) {
  std::string_view text = header_text(file, path);
  HeaderReader header(path);
  nlohmann::json::sax_parse(text.begin(), text.end(), &header);
  std::vector<Entry>& entries = header.entries;
  check_names_differ(entries, path);
  for (const Entry& entry : entries) check_size(entry, path);
  std::vector<Entry*> by_offset;
  by_offset.reserve(entries.size());
  for (Entry& entry : entries) by_offset.push_back(&entry);
  std::stable_sort(by_offset.begin(), by_offset.end(),
                   [](const Entry* left, const Entry* right) { return *left->offsets < *right->offsets; });
  std::span<const std::byte> data = file.subspan(kLengthBytes + text.size());
  check_tiling(by_offset, data.size(), path);

  SafetensorsContent content{std::move(header.metadata), {}};
  content.tensors.reserve(entries.size());
  for (Entry* entry : by_offset) {
    auto begin = static_cast<std::size_t>((*entry->offsets)[0]);
    auto bytes = static_cast<std::size_t>((*entry->offsets)[1]) - begin;
    content.tensors.push_back(
        {std::move(entry->name), *entry->dtype, *std::move(entry->shape), data.subspan(begin, bytes)});
  }
  return content;
}

}  // namespace firstlayer
