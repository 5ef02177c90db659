#pragma once
// Rows of a table, asked for by text, number or bytes; and rows as they are shown.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/flags.h"
#include "cli/token_text.h"
#include "cli/vector_table.h"
#include "firstlayer/view/families.h"
#include "firstlayer/view/neighbors.h"

namespace firstlayer::cli {

struct RowQueryFlags {
  std::vector<std::string> words;
  std::vector<std::string> ids;
  std::vector<std::string> bytes;
  std::uint64_t top = 10;
  bool fold = false;
};

/// The arguments `words` (shown as `name`), and --id, --bytes, --top and --fold.
void add_row_query_flags(CLI::App& app, RowQueryFlags& flags, const std::string& name, const std::string& help);

/// The rows that are asked for: words, then ids, then bytes. Throws Failure.
std::vector<TokenId> asked_rows(const RowQueryFlags& flags, const VectorTable& table);

/// The families of a table's words.
Families families_of(const VectorTable& table);

/// `12 "word"`, or `row 12`.
std::string row_text(const VectorTable& table, TokenId row);

/// token_json() of the row and its word.
Json row_json(const VectorTable& table, TokenId row);

/// One line for each neighbour; with families, who else is in each.
void print_neighbors(const std::vector<Neighbor>& neighbors, const VectorTable& table,
                     const std::optional<Families>& families, Console& console);
Json neighbors_json(const std::vector<Neighbor>& neighbors, const VectorTable& table,
                    const std::optional<Families>& families);

}  // namespace firstlayer::cli
