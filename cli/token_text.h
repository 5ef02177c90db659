#pragma once
// Ids and tokens as text: for people, and in JSON.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "firstlayer/base/token_id.h"

namespace firstlayer::cli {

/// Objects keep the order in which their keys were set.
using Json = nlohmann::ordered_json;

/// One line of JSON; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& value);

/// "40 367 2885"
std::string ids_text(std::span<const TokenId> ids);

/// "\xf0\x9f" -> "f09f"
std::string hex(std::string_view bytes);

/// {"id": 12, "text": "word", "bytes": "776f7264"}; the last two if there are bytes.
Json token_json(TokenId id, std::string_view bytes);

/// 1234567 -> "1,234,567"
std::string grouped(std::uint64_t number);

/// Columns of a terminal that UTF-8 `text` takes.
std::size_t display_width(std::string_view text);

/// `text` followed by spaces up to `width` columns.
std::string padded(std::string_view text, std::size_t width);

/// `text`, cut to `width` columns with "..." at the end if it is wider.
std::string fitted(std::string_view text, std::size_t width);

}  // namespace firstlayer::cli
