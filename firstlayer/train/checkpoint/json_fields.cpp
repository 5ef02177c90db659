#include "firstlayer/train/checkpoint/json_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/memory_map.h"
#include "firstlayer/formats/file_limits.h"

namespace firstlayer {
namespace {

constexpr std::size_t kMostText = 100'000'000;

nlohmann::json parse_object(std::string_view text, const std::filesystem::path& path) {
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_object()) return parsed;
  throw FormatError(path, "expected a JSON object, received " +
                              (parsed.is_discarded() ? quoted_text(text.substr(0, 200)) : parsed.type_name()) +
                              "; the file is damaged or was cut off, get it again");
}

template <class T>
T needed(const JsonFields& fields, std::string_view name, std::optional<T> value, std::string_view expected) {
  if (!value) fields.refuse(name, expected);
  return *std::move(value);
}

}  // namespace

JsonFields::JsonFields(std::string_view text, std::filesystem::path path)
    : object_(parse_object(text, path)), path_(std::move(path)) {}

JsonFields::JsonFields(nlohmann::json object, std::filesystem::path path, std::string place)
    : object_(std::move(object)), path_(std::move(path)), place_(std::move(place)) {}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> names;
  for (const auto& item : object_.items()) names.push_back(item.key());
  return names;
}

const nlohmann::json* JsonFields::find(std::string_view name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::uint64_t> JsonFields::whole(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_unsigned()) refuse(name, "a whole number below 2^64");
  return value->get<std::uint64_t>();
}

std::optional<double> JsonFields::number(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !std::isfinite(value->get<double>())) refuse(name, "a number");
  return value->get<double>();
}

std::optional<bool> JsonFields::flag(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(name, "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonFields::text(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, "a text");
  return value->get<std::string>();
}

std::optional<JsonFields> JsonFields::object(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) refuse(name, "an object");
  return JsonFields(*value, path_, std::string(place_).append(name).append("."));
}

std::uint64_t JsonFields::need_whole(std::string_view name) const {
  return needed(*this, name, whole(name), "a whole number below 2^64");
}

double JsonFields::need_number(std::string_view name) const { return needed(*this, name, number(name), "a number"); }

std::string JsonFields::need_text(std::string_view name) const { return needed(*this, name, text(name), "a text"); }

JsonFields JsonFields::need_object(std::string_view name) const {
  return needed(*this, name, object(name), "an object");
}

std::vector<std::string> JsonFields::need_texts(std::string_view name) const {
  const nlohmann::json* value = find(name);
  const auto is_text = [](const nlohmann::json& one) { return one.is_string(); };
  if (value == nullptr || !value->is_array() || !std::all_of(value->begin(), value->end(), is_text)) {
    refuse(name, "a list of texts");
  }
  return value->get<std::vector<std::string>>();
}

std::string JsonFields::shown(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return "none";
  if (value->is_string()) return quoted_text(value->get_ref<const std::string&>());
  if (value->is_structured()) return value->type_name();
  return value->dump();
}

void JsonFields::refuse(std::string_view name, std::string_view expected, std::string_view mend) const {
  std::string words = quoted_text(place_ + std::string(name));
  words.append(": expected ").append(expected).append(", received ").append(shown(name));
  if (!mend.empty()) words.append("; ").append(mend);
  throw FormatError(path_, words);
}

std::string read_text_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() > kMostText) {
    throw FormatError(path, "expected a text of at most " + std::to_string(kMostText) + " bytes, received " +
                                std::to_string(bytes.size()));
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace firstlayer
