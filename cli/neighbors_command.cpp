#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/row_query.h"
#include "cli/vector_table.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/formats/npy.h"
#include "firstlayer/formats/stored_rows.h"
#include "firstlayer/view/neighbors.h"

namespace firstlayer::cli {
namespace {

struct NeighborFlags {
  VectorTableFlags table;
  RowQueryFlags rows;
  std::optional<std::string> vector;
  std::string metric = "cosine";
};

/// A vector with its name, and the row that it is, if it is one.
struct Query {
  std::string name;
  std::optional<TokenId> row;
};

/// The vectors that are asked about, and what they are called.
struct Queries {
  std::vector<Query> names;
  Tensor<float, 2> vectors;
};

Queries read_queries(const NeighborFlags& flags, const VectorTable& table) {
  const std::vector<TokenId> rows = asked_rows(flags.rows, table);
  Tensor<float, 2> given;
  if (flags.vector) given = StoredRows(NpyFile::open(*flags.vector), *flags.vector).read_all();
  const std::size_t dim = table.rows().dim(1);
  if (flags.vector && given.dim(1) != dim) {
    throw Failure(kBadData, fmt::format("{}: expected vectors of width {}, that of the table, received {}",
                                        *flags.vector, dim, given.dim(1)));
  }
  Queries queries{{}, Tensor<float, 2>({rows.size() + given.dim(0), dim})};
  for (const TokenId row : rows) {
    std::ranges::copy(table.rows().view()[row], queries.vectors.view()[queries.names.size()].begin());
    queries.names.push_back({row_text(table, row), row});
  }
  for (std::size_t i = 0; i < given.dim(0); ++i) {
    std::ranges::copy(given.view()[i], queries.vectors.view()[queries.names.size()].begin());
    queries.names.push_back({fmt::format("{}[{}]", printable(*flags.vector), i), std::nullopt});
  }
  return queries;
}

Metric find_metric(const std::string& name) {
  if (name == metric_name(Metric::kDot)) return Metric::kDot;
  return name == metric_name(Metric::kL2) ? Metric::kL2 : Metric::kCosine;
}

std::vector<std::vector<Neighbor>> find(const NeighborFlags& flags, const Queries& queries, const VectorTable& table,
                                        const std::optional<Families>& families, unsigned threads) {
  const NeighborTable prepared(table.rows(), find_metric(flags.metric), threads);
  NeighborOptions options;
  options.count = flags.rows.top;
  options.threads = threads;
  for (const Query& query : queries.names) {
    std::vector<TokenId> own;
    if (query.row) own.push_back(*query.row);
    options.excluded_of.push_back(families ? families->with_families(own) : own);
  }
  if (!families) return prepared.find(queries.vectors, options);
  std::vector<std::vector<Neighbor>> found;
  for (std::size_t i = 0; i < queries.names.size(); ++i) {
    NeighborOptions one = options;
    one.excluded_of = {options.excluded_of[i]};
    found.push_back(fold_neighbors(*families, options.count, [&](std::size_t count) {
      one.count = count;
      return prepared.find(queries.vectors.view()[i], one);
    }));
  }
  return found;
}

void print_json(const NeighborFlags& flags, const Queries& queries, const VectorTable& table,
                const std::vector<std::vector<Neighbor>>& found, const std::optional<Families>& families,
                Console& console) {
  Json report{{"table", {{"file", table.origin()}, {"shape", table.rows().shape()}}}, {"metric", flags.metric}};
  report["queries"] = Json::array();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Query& query = queries.names[i];
    Json one = query.row ? row_json(table, *query.row) : Json{{"vector", query.name}};
    one["neighbors"] = neighbors_json(found[i], table, families);
    report["queries"].push_back(std::move(one));
  }
  console.print("{}\n", json_text(report));
}

void run(const NeighborFlags& flags, Console& console) {
  if (flags.rows.words.empty() && flags.rows.ids.empty() && flags.rows.bytes.empty() && !flags.vector) {
    throw Failure(kUsage, "expected a word, received none",
                  "or --id N, --bytes HEX, --vector FILE.npy; see firstlayer neighbors --help");
  }
  const VectorTable table(flags.table, console.threads());
  const Queries queries = read_queries(flags, table);
  std::optional<Families> families;
  if (flags.rows.fold) families = families_of(table);
  const auto found = find(flags, queries, table, families, console.threads());
  if (console.json()) return print_json(flags, queries, table, found, families, console);
  for (std::size_t i = 0; i < found.size(); ++i) {
    console.print("{}{}, {}\n", i == 0 ? "" : "\n", queries.names[i].name, flags.metric);
    print_neighbors(found[i], table, families, console);
  }
}

}  // namespace

Command add_neighbors(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "neighbors", "The nearest rows of a table, exact over all of it: for each word the rows most like its own.");
  const auto flags = std::make_shared<NeighborFlags>();
  add_row_query_flags(*app, flags->rows, "WORD...",
                      "a token or word, exactly as it is, its spaces too (\" king\"); several are asked one by one");
  add_file(*app, "--vector", flags->vector, "vectors of one's own: an .npy file of shape (d,) or (n, d)")
      ->group("Rows");
  add_choice(*app, "--metric", flags->metric, {"cosine", "dot", "l2"}, "how near is meant; l2 is the distance")
      ->group("Result");
  add_vector_table_flags(*app, flags->table);
  app->footer(
      "  firstlayer neighbors \" king\" --weights gpt2/model.safetensors --fold\n"
      "  firstlayer neighbors paris soup --weights glove.6B.100d.txt --top 5\n"
      "  firstlayer neighbors --id 50256 --metric l2 --weights gpt2 --json\n"
      "  firstlayer neighbors --vector query.npy --weights table.npy");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
