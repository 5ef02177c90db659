#include "cli/row_query.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cli/failure.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer::cli {
namespace {

TokenId parse_row(const std::string& text, std::size_t rows) {
  TokenId row = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, row);
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) throw Failure(kUsage, fmt::format("--id: expected a whole number, received {}", in_quotes(text)));
  if (error != std::errc() || stop != end || row >= rows) {
    throw Failure(kBadData, fmt::format("--id {} is not below {}, the rows of the table", text, rows));
  }
  return row;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string parse_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    const int high = hex_digit(text[at]);
    const int low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (bytes.empty() || bytes.size() * 2 != text.size()) {
    throw Failure(kUsage, fmt::format("--bytes: expected pairs of hex digits, received {}", in_quotes(text)));
  }
  return bytes;
}

}  // namespace

void add_row_query_flags(CLI::App& app, RowQueryFlags& flags, const std::string& name, const std::string& help) {
  constexpr char kGroup[] = "Rows";
  app.add_option("WORDS", flags.words, help)->type_name(name)->group(kGroup);
  app.add_option("--id", flags.ids, "a row by its number; repeatable")
      ->type_name("N")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--bytes", flags.bytes, "a row by the bytes of its token or word, in hex; repeatable")
      ->type_name("HEX")
      ->allow_extra_args(false)
      ->group(kGroup);
  constexpr char kResult[] = "Result";
  add_number(app, "--top", flags.top, "the rows to show")->group(kResult);
  app.add_flag("--fold", flags.fold, "show only the nearest of words that differ in capitals and spaces before them")
      ->group(kResult);
}

std::vector<TokenId> asked_rows(const RowQueryFlags& flags, const VectorTable& table) {
  std::vector<TokenId> rows;
  for (const std::string& word : flags.words) rows.push_back(table.row_of(word));
  for (const std::string& id : flags.ids) rows.push_back(parse_row(id, table.size()));
  for (const std::string& bytes : flags.bytes) rows.push_back(table.row_of(parse_hex(bytes)));
  return rows;
}

Families families_of(const VectorTable& table) {
  return {table.size(), [&table](TokenId row) { return table.word(row); }};
}

std::string row_text(const VectorTable& table, TokenId row) {
  const std::string_view word = table.word(row);
  return word.empty() ? fmt::format("row {}", row) : fmt::format("{} {}", row, in_quotes(word));
}

Json row_json(const VectorTable& table, TokenId row) { return token_json(row, table.word(row)); }

void print_neighbors(const std::vector<Neighbor>& neighbors, const VectorTable& table,
                     const std::optional<Families>& families, Console& console) {
  for (const Neighbor& neighbor : neighbors) {
    std::string line = fmt::format("{:>9.4f}  {}", neighbor.score, row_text(table, neighbor.id));
    if (families) {
      std::string_view before = "  with ";
      for (const TokenId member : families->members_of(neighbor.id)) {
        if (member == neighbor.id) continue;
        line.append(before).append(in_quotes(table.word(member)));
        before = " ";
      }
    }
    console.print("{}\n", fitted(line, console.columns() > 80 ? console.columns() : 80));
  }
}

Json neighbors_json(const std::vector<Neighbor>& neighbors, const VectorTable& table,
                    const std::optional<Families>& families) {
  Json list = Json::array();
  for (const Neighbor& neighbor : neighbors) {
    Json row = row_json(table, neighbor.id);
    row["score"] = neighbor.score;
    if (families) {
      const std::span<const TokenId> members = families->members_of(neighbor.id);
      row["family"] = std::vector<TokenId>(members.begin(), members.end());
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace firstlayer::cli
