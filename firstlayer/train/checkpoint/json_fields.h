#pragma once
// The fields of a JSON object in a file that somebody else may have written. Internal to the library.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firstlayer {

/// Each member throws FormatError naming the file and the field if it is there and of another kind. A field that is
/// null counts as one that is missing.
class JsonFields {
 public:
  /// Reads a whole file's text. Throws FormatError unless it is one JSON object.
  JsonFields(std::string_view text, std::filesystem::path path);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::vector<std::string> names() const;

  std::optional<std::uint64_t> whole(std::string_view name) const;  ///< below 2^64
  std::optional<double> number(std::string_view name) const;        ///< finite
  std::optional<bool> flag(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<JsonFields> object(std::string_view name) const;

  /// The same for fields that must be there.
  std::uint64_t need_whole(std::string_view name) const;
  double need_number(std::string_view name) const;
  std::string need_text(std::string_view name) const;
  JsonFields need_object(std::string_view name) const;
  std::vector<std::string> need_texts(std::string_view name) const;  ///< a list

  /// The value as JSON, cut if it is long, for messages; "none" if it is missing.
  std::string shown(std::string_view name) const;

  /// Throws FormatError: NAME: expected EXPECTED, received what is there.
  [[noreturn]] void refuse(std::string_view name, std::string_view expected, std::string_view mend = {}) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  JsonFields(nlohmann::json object, std::filesystem::path path, std::string place);

  const nlohmann::json* find(std::string_view name) const;

  nlohmann::json object_;
  std::filesystem::path path_;
  std::string place_;  ///< what stands before a field's name in messages: "", "files."
};

/// The text of a file, of at most 100 MB. Throws FileError, FormatError.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace firstlayer
