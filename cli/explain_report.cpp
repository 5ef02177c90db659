#include "cli/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <variant>

#include "cli/heat_strip.h"
#include "cli/token_text.h"
#include "cli/wrapped_text.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kShownItems = 8;
constexpr std::size_t kWidestLine = 100;

/// `9703 "dog"  26081 " bites"`, or without the ids; no more than kShownItems of them.
std::string tokens_text(std::span<const TokenId> ids, const Tokenizer& tokenizer, bool with_ids) {
  std::string text;
  for (const TokenId id : ids.first(std::min(kShownItems, ids.size()))) {
    if (!text.empty()) text += with_ids ? "  " : " ";
    if (with_ids) text += std::to_string(id) + " ";
    text += in_quotes(tokenizer.token_bytes(id));
  }
  return text + (ids.size() > kShownItems ? " ..." : "");
}

std::string words_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string value_text(const Measurement& measurement, const Tokenizer& tokenizer) {
  const std::string text = std::visit(
      Overloaded{[](std::uint64_t value) { return grouped(value); },
                 [](double value) { return fmt::format("{:.3g}", value); },
                 [](const Count& count) { return grouped(count.count) + " of " + grouped(count.of); },
                 [](const Share& share) {
                   return fmt::format("{:4.1f} %  {:>11} of {}",
                                      100 * static_cast<double>(share.part) / static_cast<double>(share.whole),
                                      grouped(share.part), grouped(share.whole));
                 },
                 [&tokenizer](const Ids& ids) { return tokens_text(ids.ids, tokenizer, ids.ids.size() == 1); },
                 [](const std::vector<std::uint64_t>& values) {
                   const std::size_t shown = std::min(kShownItems, values.size());
                   return fmt::format("{}{}", fmt::join(values.begin(), values.begin() + shown, " "),
                                      values.size() > shown ? " ..." : "");
                 }},
      measurement.value);
  return measurement.unit.empty() ? text : text + " " + measurement.unit;
}

Json value_json(const Measurement& measurement) {
  Json json = std::visit(Overloaded{[](const Count& count) {
                                      return Json{{"value", count.count}, {"of", count.of}};
                                    },
                                    [](const Share& share) {
                                      return Json{{"value", share.part}, {"of", share.whole}};
                                    },
                                    [](const Ids& ids) {
                                      return Json{{"value", ids.ids}};
                                    },
                                    [](const auto& value) {
                                      return Json{{"value", value}};
                                    }},
                         measurement.value);
  if (!measurement.unit.empty()) json["unit"] = measurement.unit;
  return json;
}

/// How many claims have each verdict.
std::size_t count_of(const std::vector<Evidence>& evidence, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(evidence.begin(), evidence.end(),
                                                [verdict](const Evidence& one) { return one.verdict == verdict; }));
}

class EvidencePrinter {
 public:
  EvidencePrinter(const Tokenizer& tokenizer, Console& console)
      : tokenizer_(tokenizer), console_(console), columns_(std::min(console.columns(), kWidestLine)) {}

  void line(std::string_view text) { console_.print("{}\n", fitted(text, columns_)); }

  void evidence(std::size_t number, const Evidence& evidence) {
    std::string page = fmt::format("\n{}  ", number);
    append_wrapped(page, evidence.claim, kIndent, columns_);
    console_.print(page);
    measurements(evidence.measured);
    if (console_.colors()) strips(evidence.vectors);
    std::string verdict(verdict_text(evidence.verdict));
    if (evidence.verdict == Verdict::kNotShown) verdict += "; it takes " + evidence.needs;
    page = "   " + color_of(evidence.verdict) + "=> ";
    append_wrapped(page, verdict, kIndent + 3, columns_);
    page.pop_back();
    console_.print("{}{}\n", page, console_.colors() ? "\x1b[0m" : "");
  }

 private:
  static constexpr std::size_t kIndent = 3;

  /// Names and values side by side, or on a narrow terminal one below the other.
  void measurements(const std::vector<Measurement>& measured) {
    constexpr std::size_t kValueColumns = 24;
    std::size_t widest = 0;
    for (const Measurement& one : measured) widest = std::max(widest, one.name.size());
    const bool side_by_side = 7 + widest + kValueColumns <= columns_;
    for (const Measurement& one : measured) {
      const std::string name = words_of(one.name);
      const std::string value = value_text(one, tokenizer_);
      if (side_by_side) {
        line(fmt::format("     {:<{}}  {}", name, widest, value));
      } else {
        line("     " + name);
        line("       " + value);
      }
    }
  }

  void strips(const std::vector<NamedVector>& vectors) {
    std::size_t widest = 0;
    std::vector<float> all;
    for (const NamedVector& vector : vectors) {
      widest = std::max(widest, vector.name.size());
      all.insert(all.end(), vector.values.begin(), vector.values.end());
    }
    const std::size_t used = 5 + widest + 2;
    if (used >= columns_) return;
    const float scale = heat_scale(all);
    for (const NamedVector& vector : vectors) {
      const std::span<const float> values(vector.values);
      console_.print("     {:<{}}  {}\n", vector.name, widest,
                     heat_strip(values.first(std::min(values.size(), columns_ - used)), scale, console_.true_color()));
    }
  }

  /// Green and red, which some do not tell apart, stand beside the words.
  std::string color_of(Verdict verdict) const {
    if (!console_.colors()) return "";
    return verdict == Verdict::kHolds ? "\x1b[32m" : verdict == Verdict::kDoesNotHold ? "\x1b[1;31m" : "\x1b[33m";
  }

  const Tokenizer& tokenizer_;
  Console& console_;
  std::size_t columns_;
};

std::string summary(const std::vector<Evidence>& evidence) {
  const std::size_t not_shown = count_of(evidence, Verdict::kNotShown);
  std::string text = fmt::format("{} of {} claims hold", count_of(evidence, Verdict::kHolds), evidence.size());
  if (const std::size_t failed = count_of(evidence, Verdict::kDoesNotHold); failed > 0) {
    text += fmt::format(", {} {} not", failed, failed == 1 ? "does" : "do");
  }
  if (not_shown > 0) text += fmt::format("; this text does not show {}", not_shown == 1 ? "one" : grouped(not_shown));
  return text;
}

}  // namespace

void print_explanation(const Explanation& explanation, const Tokenizer& tokenizer, Console& console) {
  EvidencePrinter printer(tokenizer, console);
  const std::uint64_t used = explanation.ids.size();
  const std::uint64_t all = explanation.text.ids;
  const std::string count = used < all ? "the first " + grouped(used) + " of " + grouped(all) : grouped(used);
  printer.line(fmt::format("{} {}: {}", count, all == 1 ? "id" : "ids", tokens_text(explanation.ids, tokenizer, true)));
  printer.line(fmt::format("E {}, P {}, {}", shape_text(explanation.token_table),
                           shape_text(explanation.position_table), explanation.origin));
  for (std::size_t i = 0; i < explanation.evidence.size(); ++i) printer.evidence(i + 1, explanation.evidence[i]);
  printer.line("");
  printer.line(summary(explanation.evidence));
}

void print_json_explanation(const Explanation& explanation, const Tokenizer& tokenizer, Console& console) {
  Json report;
  report["text"] = {{"bytes", explanation.text.bytes}, {"ids", explanation.text.ids}};
  report["ids"] = explanation.ids;
  Json tokens = Json::array();
  for (const TokenId id : explanation.ids) tokens.push_back(tokenizer.token_bytes(id));
  report["tokens"] = tokens;
  report["token_table"] = {{"shape", explanation.token_table}};
  report["position_table"] = {{"shape", explanation.position_table}};
  report["claims"] = Json::array();
  for (const Evidence& evidence : explanation.evidence) {
    Json claim{{"id", evidence.id}, {"claim", evidence.claim}, {"verdict", verdict_text(evidence.verdict)}};
    if (evidence.verdict == Verdict::kNotShown) claim["needs"] = evidence.needs;
    claim["measured"] = Json::object();
    for (const Measurement& one : evidence.measured) claim["measured"][one.name] = value_json(one);
    report["claims"].push_back(std::move(claim));
  }
  report["hold"] = count_of(explanation.evidence, Verdict::kHolds);
  report["do_not_hold"] = count_of(explanation.evidence, Verdict::kDoesNotHold);
  report["not_shown"] = count_of(explanation.evidence, Verdict::kNotShown);
  console.print("{}\n", json_text(report));
}

}  // namespace firstlayer::cli
