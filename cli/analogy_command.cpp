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
#include "firstlayer/view/analogy.h"

namespace firstlayer::cli {
namespace {

struct AnalogyFlags {
  VectorTableFlags table;
  RowQueryFlags rows;
  std::string rule = "add";
};

std::vector<Neighbor> find(const AnalogyFlags& flags, const std::vector<TokenId>& abc, const VectorTable& table,
                           const std::optional<Families>& families, unsigned threads) {
  const NeighborTable prepared(table.rows(), Metric::kCosine, threads);
  const Analogy analogy{abc[0], abc[1], abc[2]};
  const AnalogyRule rule = flags.rule == rule_name(AnalogyRule::kAdd) ? AnalogyRule::kAdd : AnalogyRule::kMultiply;
  NeighborOptions options;
  options.threads = threads;
  const auto search = [&](std::size_t count) {
    options.count = count;
    return find_analogies(prepared, {&analogy, 1}, rule, options).front();
  };
  if (!families) return search(flags.rows.top);
  options.excluded = families->with_families(abc);
  return fold_neighbors(*families, flags.rows.top, search);
}

void run(const AnalogyFlags& flags, Console& console) {
  const std::size_t asked = flags.rows.words.size() + flags.rows.ids.size() + flags.rows.bytes.size();
  if (asked != 3) {
    throw Failure(kUsage, fmt::format("expected three words, A B C for A - B + C, received {}", asked),
                  "firstlayer analogy king man woman --weights FILE");
  }
  const VectorTable table(flags.table, console.threads());
  const std::vector<TokenId> abc = asked_rows(flags.rows, table);
  std::optional<Families> families;
  if (flags.rows.fold) families = families_of(table);
  const std::vector<Neighbor> found = find(flags, abc, table, families, console.threads());
  if (console.json()) {
    Json report{{"table", {{"file", table.origin()}, {"shape", table.rows().shape()}}}, {"rule", flags.rule}};
    const char* names[] = {"a", "b", "c"};
    for (std::size_t i = 0; i < abc.size(); ++i) report[names[i]] = row_json(table, abc[i]);
    report["neighbors"] = neighbors_json(found, table, families);
    console.print("{}\n", json_text(report));
    return;
  }
  console.print("{} - {} + {}, {}\n", row_text(table, abc[0]), row_text(table, abc[1]), row_text(table, abc[2]),
                flags.rule == "add" ? "cosine" : "3CosMul");
  print_neighbors(found, table, families, console);
}

}  // namespace

Command add_analogy(CLI::App& root) {
  CLI::App* app = root.add_subcommand("analogy",
                                      "The rows nearest to A - B + C: king man woman asks what is to woman as king is "
                                      "to man. A, B and C themselves are left out.");
  const auto flags = std::make_shared<AnalogyFlags>();
  add_row_query_flags(*app, flags->rows, "A B C", "three tokens or words, exactly as they are, their spaces too");
  add_choice(*app, "--rule", flags->rule, {"add", "multiply"}, "3CosAdd, or 3CosMul of Levy and Goldberg (2014)")
      ->group("Result");
  add_vector_table_flags(*app, flags->table);
  app->footer(
      "  firstlayer analogy king man woman --weights glove.6B.100d.txt\n"
      "  firstlayer analogy \" Paris\" \" France\" \" Italy\" --weights gpt2 --fold\n"
      "  firstlayer analogy --id 5822 --id 582 --id 2415 --weights gpt2 --json");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
