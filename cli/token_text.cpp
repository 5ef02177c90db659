#include "cli/token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "firstlayer/base/utf8.h"

namespace firstlayer::cli {
namespace {

struct CodePoints {
  char32_t first;
  char32_t last;
};

// What terminals draw in no column or in two, after UAX #11 in broad strokes: enough to keep columns straight.
constexpr std::array<CodePoints, 5> kNoColumn{
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
constexpr std::array<CodePoints, 8> kTwoColumns{{{0x1100, 0x115F},
                                                 {0x2E80, 0xA4CF},
                                                 {0xAC00, 0xD7A3},
                                                 {0xF900, 0xFAFF},
                                                 {0xFE30, 0xFE6F},
                                                 {0xFF00, 0xFF60},
                                                 {0x1F300, 0x1FAFF},
                                                 {0x20000, 0x3FFFD}}};

template <std::size_t Count>
bool contains(const std::array<CodePoints, Count>& ranges, char32_t code_point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [=](const CodePoints& range) { return range.first <= code_point && code_point <= range.last; });
}

std::size_t columns_of(char32_t code_point) {
  if (contains(kNoColumn, code_point)) return 0;
  return contains(kTwoColumns, code_point) ? 2 : 1;
}

}  // namespace

std::string json_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string ids_text(std::span<const TokenId> ids) { return fmt::format("{}", fmt::join(ids, " ")); }

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Json token_json(TokenId id, std::string_view bytes) {
  Json json{{"id", id}};
  if (!bytes.empty()) {
    json["text"] = bytes;
    json["bytes"] = hex(bytes);
  }
  return json;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = 3; place < text.size(); place += 4) text.insert(text.size() - place, 1, ',');
  return text;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char character = decode_utf8(text, at);
    columns += columns_of(character.code_point);
    at += character.length;
  }
  return columns;
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t columns = display_width(text);
  return std::string(text) + std::string(columns < width ? width - columns : 0, ' ');
}

std::string fitted(std::string_view text, std::size_t width) {
  constexpr std::string_view kCut = "...";
  if (display_width(text) <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  std::size_t columns = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Char character = decode_utf8(text, at);
    columns += columns_of(character.code_point);
    if (columns > width - kCut.size()) break;
    at += character.length;
  }
  return std::string(text.substr(0, at)).append(kCut);
}

}  // namespace firstlayer::cli
