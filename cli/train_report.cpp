#include "cli/train_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "firstlayer/base/atomic_file.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/lookup/position/scheme.h"
#include "firstlayer/train/skip_gram.h"
#include "firstlayer/version.h"
#include "firstlayer/view/families.h"
#include "firstlayer/view/moved_rows.h"
#include "firstlayer/view/neighbors.h"
#include "firstlayer/view/variant_ranks.h"
#include "firstlayer/view/word_tests.h"

namespace firstlayer {

extern const std::string_view kReportPage;    // train_report_page/page.html
extern const std::string_view kReportStyle;   // train_report_page/page.css
extern const std::string_view kReportScript;  // train_report_page/page.js

}  // namespace firstlayer

namespace firstlayer::cli {
namespace {

constexpr std::size_t kShownWords = 12;
constexpr std::size_t kShownNeighbors = 8;
constexpr std::size_t kShownMoves = 20;
constexpr std::size_t kMostVariants = 1000;
constexpr std::size_t kBins = 40;

std::string_view bytes_of(const Tokenizer& tokenizer, TokenId id) {
  return id < tokenizer.vocabulary_size() ? tokenizer.token_bytes(id) : std::string_view();
}

/// Both tables, made ready to be searched, and what the text that was trained on has of their rows.
struct Tables {
  View<const float, 2> now;
  NeighborTable before;
  NeighborTable after;
  std::vector<std::uint64_t> counts;  ///< (V,)
  std::vector<TokenId> met;           ///< ascending
};

Tables read_tables(const EndedRun& run, unsigned threads) {
  const View<const float, 2> now = run.parameters.matrix(run.parameters.layout().token_table());
  Tables tables{now,
                NeighborTable(run.start, Metric::kCosine, threads),
                NeighborTable(now, Metric::kCosine, threads),
                count_ids(run.ids.first(run.batches.ids()), now.dim(0)),
                {}};
  for (TokenId id = 0; id < tables.counts.size(); ++id) {
    if (tables.counts[id] > 0) tables.met.push_back(id);
  }
  return tables;
}

std::string source_of(const TrainFlags& flags) {
  if (flags.ids) return *flags.ids;
  if (flags.text.text) return "--text";
  return flags.text.files.empty() ? "-" : fmt::format("{}", fmt::join(flags.text.files, " "));
}

Json run_json(const EndedRun& run) {
  const GptConfig& config = run.parameters.config();
  Json json{{"version", kVersion}, {"steps", run.steps}};
  json["text"] = {{"source", source_of(run.flags)},
                  {"vocabulary", run.tokenizer.name()},
                  {"ids", run.ids.size()},
                  {"training_ids", run.batches.ids()},
                  {"held_out_ids", run.batches.held_out_ids()}};
  json["network"] = {{"layers", config.layers},
                     {"heads", config.heads},
                     {"dim", config.dim},
                     {"context", config.context},
                     {"vocabulary", config.vocabulary},
                     {"position", scheme_name(config.position)},
                     {"tied", config.tied},
                     {"parameters", run.parameters.layout().parameters()}};
  json["flags"] = lasting_flags(run.flags);
  return json;
}

Json loss_json(const EndedRun& run) {
  Json held_out = Json::array();
  const auto add = [&](const HeldOutLoss& at) {
    held_out.push_back({{"step", at.step}, {"loss", at.loss}, {"perplexity", std::exp(at.loss)}});
  };
  for (const HeldOutLoss& at : run.history.held_out) add(at);
  const bool is_there = !run.history.held_out.empty() && run.history.held_out.back().step == run.steps;
  if (run.held_out && !is_there) add(*run.held_out);  // of a run that was stopped
  return {{"guessing", std::log(static_cast<double>(run.parameters.config().vocabulary))},
          {"first_step", run.steps + 1 - run.history.losses.size()},
          {"training", run.history.losses},
          {"held_out", std::move(held_out)}};
}

/// " the": a space, then letters; whatever is not ASCII counts as one.
bool is_word(std::string_view bytes) {
  constexpr std::size_t kLeastLetters = 3;
  if (!bytes.starts_with(' ')) return false;
  std::size_t letters = 0;
  for (std::size_t at = 1; at < bytes.size(); ++letters) {
    const Utf8Char character = decode_utf8(bytes, at);
    const char32_t small = character.code_point | 0x20;
    if (!character.valid || (character.code_point < 0x80 && (small < 'a' || small > 'z'))) return false;
    at += character.length;
  }
  return letters >= kLeastLetters;
}

std::vector<TokenId> frequent_words(const Tables& tables, const Tokenizer& tokenizer) {
  std::vector<TokenId> words;
  std::ranges::copy_if(tables.met, std::back_inserter(words),
                       [&](TokenId id) { return is_word(bytes_of(tokenizer, id)); });
  std::ranges::stable_sort(words, [&](TokenId a, TokenId b) { return tables.counts[a] > tables.counts[b]; });
  words.resize(std::min(words.size(), kShownWords));
  return words;
}

Json neighbors_before_and_after(const EndedRun& run, const Tables& tables, unsigned threads) {
  const auto nearest_in = [&](const NeighborTable& table, View<const float, 2> rows, TokenId id) {
    Json list = Json::array();
    const NeighborOptions options{.count = kShownNeighbors, .excluded = {id}, .only = tables.met, .threads = threads};
    for (const Neighbor& neighbor : table.find(rows[id], options)) {
      Json one = token_json(neighbor.id, bytes_of(run.tokenizer, neighbor.id));
      one["score"] = neighbor.score;
      list.push_back(std::move(one));
    }
    return list;
  };
  Json tokens = Json::array();
  for (const TokenId id : run.shown.empty() ? frequent_words(tables, run.tokenizer) : run.shown) {
    Json token = token_json(id, bytes_of(run.tokenizer, id));
    token["met"] = tables.counts[id];
    token["before"] = nearest_in(tables.before, run.start, id);
    token["after"] = nearest_in(tables.after, tables.now, id);
    tokens.push_back(std::move(token));
  }
  return {{"among", tables.met.size()}, {"tokens", std::move(tokens)}};
}

Json variants_json(const EndedRun& run, const Tables& tables, unsigned threads) {
  const Families families(tables.counts.size(), [&](TokenId id) { return bytes_of(run.tokenizer, id); });
  const VariantRanks before = variant_ranks(tables.before, families, tables.counts, kMostVariants, threads);
  const VariantRanks after = variant_ranks(tables.after, families, tables.counts, kMostVariants, threads);
  Json json{{"families", after.families}, {"tokens", after.tokens}, {"pairs", after.pairs}, {"chance", after.chance}};
  if (after.pairs == 0) return json;
  json["before"] = {{"mean", before.mean}, {"median", before.median}};
  json["after"] = {{"mean", after.mean}, {"median", after.median}};
  return json;
}

/// A word is the token with a space before it, if the text has that.
RowOfWord rows_by_word(const EndedRun& run, const Tables& tables) {
  std::unordered_map<std::string_view, TokenId> rows;
  for (const TokenId id : tables.met) {
    const std::string_view bytes = bytes_of(run.tokenizer, id);
    if (bytes.starts_with(' ')) rows[bytes.substr(1)] = id;
  }
  return [rows = std::move(rows)](std::string_view word) -> std::optional<TokenId> {
    const auto found = rows.find(word);
    return found == rows.end() ? std::nullopt : std::optional(found->second);
  };
}

Json word_tests_json(const EndedRun& run, const Tables& tables, unsigned threads) {
  const RowOfWord row_of = rows_by_word(run, tables);
  const SimilarityResult similar_before = test_similarity(tables.before, row_of);
  const SimilarityResult similar = test_similarity(tables.after, row_of);
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json;
  json["similarity"] = {{"pairs", similar.pairs},
                        {"asked", similar.asked},
                        {"before", number(similar_before.rho)},
                        {"after", number(similar.rho)}};
  const NeighborOptions options{.only = tables.met, .threads = threads};
  const std::vector<AnalogyResult> before = test_analogies(tables.before, row_of, options);
  const std::vector<AnalogyResult> after = test_analogies(tables.after, row_of, options);
  const auto result = [](const AnalogyResult& first, const AnalogyResult& last) {
    return Json{{"questions", last.questions}, {"asked", last.asked}, {"before", first.right}, {"after", last.right}};
  };
  json["analogies"] = result(sum_of(before), sum_of(after));
  json["analogies"]["sections"] = Json::array();
  for (std::size_t i = 0; i < after.size(); ++i) {
    Json section{{"name", after[i].section}};
    section.update(result(before[i], after[i]));
    json["analogies"]["sections"].push_back(std::move(section));
  }
  return json;
}

/// Why rows move that the text never met.
std::string reason_of_moves(const EndedRun& run, const MovedRows& moved) {
  if (moved.met.changed + moved.not_met.changed == 0) return "No row has moved.";
  const bool decays = run.flags.weight_decay > 0;
  if (!run.parameters.config().tied) {
    return decays
               ? "Only rows that the text has get a gradient; the others move because weight decay makes every row a "
                 "little shorter at every step."
               : "Only rows that the text has get a gradient; the others keep every bit.";
  }
  std::string reason =
      "The others move too, for the table is the output head as well: at every step softmax pushes each "
      "row away from being the next token";
  reason += decays ? ", and weight decay makes each a little shorter." : ".";
  if (moved.not_met.median_distance > moved.met.median_distance) {
    reason +=
        " They have even moved further. AdamW measures a gradient by its usual size, so a small push that always "
        "goes the same way counts as much as a large one; rows that the text has are pulled to and fro.";
  }
  return reason;
}

Json moved_rows_json(const EndedRun& run, const Tables& tables, unsigned threads) {
  const MovedRows moved = moved_rows(run.start, tables.now, tables.counts, threads);
  const auto group = [](const RowGroup& rows) {
    return Json{{"rows", rows.rows}, {"changed", rows.changed}, {"median_distance", rows.median_distance}};
  };
  Json json{{"rows", moved.rows.size()}, {"met", group(moved.met)}, {"not_met", group(moved.not_met)}};
  json["reason"] = reason_of_moves(run, moved);

  double longest = 0;
  for (const RowMove& row : moved.rows) longest = std::max(longest, row.distance);
  std::array<std::array<std::uint64_t, kBins>, 2> bins{};
  for (const RowMove& row : moved.rows) {
    const double place = longest > 0 ? row.distance / longest * kBins : 0;
    ++bins[row.met > 0 ? 1 : 0][std::min(static_cast<std::size_t>(place), kBins - 1)];
  }
  json["histogram"] = {{"width", longest / kBins}, {"met", bins[1]}, {"not_met", bins[0]}};

  std::vector<TokenId> furthest = tables.met;
  std::ranges::stable_sort(furthest,
                           [&](TokenId a, TokenId b) { return moved.rows[a].distance > moved.rows[b].distance; });
  furthest.resize(std::min(furthest.size(), kShownMoves));
  json["furthest"] = Json::array();
  for (const TokenId id : furthest) {
    Json row = token_json(id, bytes_of(run.tokenizer, id));
    row["met"] = moved.rows[id].met;
    row["distance"] = moved.rows[id].distance;
    json["furthest"].push_back(std::move(row));
  }
  return json;
}

/// `text` where the page has `place`.
void fill_in(std::string& page, std::string_view place, std::string_view text) {
  page.replace(page.find(place), place.size(), text);
}

/// JSON that no tag of HTML can be in.
std::string json_for_html(const Json& report) {
  std::string safe;
  for (const char c : json_text(report)) c == '<' ? safe.append("\\u003c") : safe.append(1, c);
  return safe;
}

}  // namespace

Json train_report(const EndedRun& run, unsigned threads) {
  const Tables tables = read_tables(run, threads);
  return {{"run", run_json(run)},
          {"time", {{"seconds", run.seconds}, {"steps", run.steps - run.first_step}}},
          {"loss", loss_json(run)},
          {"neighbors", neighbors_before_and_after(run, tables, threads)},
          {"variants", variants_json(run, tables, threads)},
          {"word_tests", word_tests_json(run, tables, threads)},
          {"moved_rows", moved_rows_json(run, tables, threads)}};
}

void write_train_report(const std::filesystem::path& folder, const Json& report) {
  write_whole(folder / "report.json", json_text(report) + "\n");
  std::string page(kReportPage);
  fill_in(page, "{{style}}", kReportStyle);
  fill_in(page, "{{script}}", kReportScript);
  fill_in(page, "{{report}}", json_for_html(report));  // last: its text may have such words in it
  write_whole(folder / "report.html", page);
}

}  // namespace firstlayer::cli
