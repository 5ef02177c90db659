#include "cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/wrapped_text.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer::cli {
namespace {

constexpr char kGlobalGroup[] = "Global flags";
constexpr std::uint64_t kMostThreads = 1024;
constexpr std::size_t kColumns = 80;  ///< of the help

std::uint64_t parse_number(const std::string& flag, const std::string& text, const Range& range) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool whole = stop == end && !text.empty();
  const bool too_large = whole && (error == std::errc::result_out_of_range || number > range.most);
  if (too_large) {
    throw CLI::ValidationError(
        flag, fmt::format("expected a whole number of at most {}, received \"{}\"", range.most, printable(text)));
  }
  if (!whole || error != std::errc() || number < range.least) {
    throw CLI::ValidationError(
        flag, fmt::format("expected a whole number of at least {}, received \"{}\"", range.least, printable(text)));
  }
  return number;
}

/// "of at least 0, below 1"
std::string range_text(const RealRange& range) {
  std::string text = fmt::format("{} {}", range.with_least ? "of at least" : "above", range.least);
  if (range.most == RealRange().most) return text;
  return text + fmt::format(", {} {}", range.with_most ? "at most" : "below", range.most);
}

double parse_real(const std::string& flag, const std::string& text, const RealRange& range) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool above = range.with_least ? number >= range.least : number > range.least;
  const bool below = range.with_most ? number <= range.most : number < range.most;
  if (error != std::errc() || stop != end || !above || !below) {  // NaN is on no side
    throw CLI::ValidationError(
        flag, fmt::format("expected a number {}, received \"{}\"", range_text(range), printable(text)));
  }
  return number;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

/// "auto, always or never"
std::string either(const std::vector<std::string>& choices) {
  if (choices.size() == 1) return choices.front();
  return fmt::format("{} or {}", fmt::join(choices.begin(), choices.end() - 1, ", "), choices.back());
}

void append_rows(std::string& page, const std::vector<std::pair<std::string, std::string>>& rows) {
  constexpr std::size_t kIndent = 2;
  constexpr std::size_t kHelpColumn = 25;
  for (const auto& [left, help] : rows) {
    page += std::string(kIndent, ' ') + left;
    if (kIndent + left.size() + 2 > kHelpColumn) {
      page += "\n" + std::string(kHelpColumn, ' ');
    } else {
      page += std::string(kHelpColumn - kIndent - left.size(), ' ');
    }
    append_wrapped(page, help, kHelpColumn, kColumns);
  }
}

}  // namespace

void add_global_flags(CLI::App& app, Globals& globals) {
  app.set_help_flag();  // --help is a flag like the others, so that it is in the table and in both places
  std::vector<CLI::Option*> flags;
  flags.push_back(
      add_number(app, "--threads", globals.threads, "threads to work on", {.least = 1, .most = kMostThreads})
          ->default_str("all processors"));
  flags.push_back(app.add_flag("--json", globals.json, "print JSON"));
  flags.push_back(app.add_flag("--quiet", globals.quiet, "print no progress and no messages, only results and errors"));
  flags.push_back(add_choice(app, "--color", globals.color, {"auto", "always", "never"},
                             "colour; auto is on a terminal where NO_COLOR is not set"));
  flags.push_back(app.add_flag("--version", globals.version, "print the version"));
  flags.push_back(app.add_flag("-h,--help", globals.help, "print this help"));
  for (CLI::Option* flag : flags) flag->group(kGlobalGroup);
}

CLI::Option* add_number(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help,
                        Range range) {
  return app
      .add_option_function<std::string>(
          flag, [flag, range, &value](const std::string& text) { value = parse_number(flag, text, range); }, help)
      ->type_name("N")
      ->default_str(std::to_string(value));
}

CLI::Option* add_number(CLI::App& app, const std::string& flag, std::optional<std::uint64_t>& value,
                        const std::string& help, const std::string& otherwise, Range range) {
  return app
      .add_option_function<std::string>(
          flag, [flag, range, &value](const std::string& text) { value = parse_number(flag, text, range); }, help)
      ->type_name("N")
      ->default_str(otherwise);
}

CLI::Option* add_real(CLI::App& app, const std::string& flag, double& value, const std::string& help, RealRange range) {
  return app
      .add_option_function<std::string>(
          flag, [flag, range, &value](const std::string& text) { value = parse_real(flag, text, range); }, help)
      ->type_name("X")
      ->default_str(fmt::format("{}", value));
}

CLI::Option* add_choice(CLI::App& app, const std::string& flag, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help) {
  const auto choose = [flag, choices, &value](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      throw CLI::ValidationError(flag, fmt::format("expected {}, received \"{}\"", either(choices), printable(text)));
    }
    value = text;
  };
  CLI::Option* option =
      app.add_option_function<std::string>(flag, choose, help)->type_name(joined(choices, "|"))->default_str(value);
  return option;
}

CLI::Option* add_file(CLI::App& app, const std::string& flag, std::optional<std::string>& value,
                      const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [flag, &value](const std::string& text) {
            if (text.empty()) throw CLI::ValidationError(flag, "expected the name of a file, received \"\"");
            value = text;
          },
          help)
      ->type_name("FILE");
}

bool FlagRow::global() const { return group == kGlobalGroup; }

std::vector<FlagRow> flag_rows(const CLI::App& app) {
  std::vector<FlagRow> rows;
  for (const CLI::Option* option : app.get_options()) {
    FlagRow row;
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) row.value = option->get_type_name();
    row.help = option->get_description();
    if (!option->get_default_str().empty()) row.help += fmt::format(" (default: {})", option->get_default_str());
    row.group = option->get_group();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> literal_choices(const std::string& value) {
  std::vector<std::string> choices;
  for (std::string& word : CLI::detail::split(value, '|')) {
    if (!word.empty() && word.front() >= 'a' && word.front() <= 'z') choices.push_back(std::move(word));
  }
  return choices;
}

std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

std::string usage_line(const CLI::App& app) {
  if (app.get_parent() == nullptr) return app.get_name() + " COMMAND [FLAGS]";
  std::string line = app.get_parent()->get_name() + " " + app.get_name();
  for (const FlagRow& row : flag_rows(app)) {
    if (row.names.empty()) line += " " + row.value;
  }
  return line + " [FLAGS]";
}

std::string help_text(const CLI::App& app) {
  std::string page;
  append_wrapped(page, app.get_description(), 0, kColumns);
  page += "\nUsage: " + usage_line(app) + "\n";

  std::vector<std::pair<std::string, std::string>> lines;
  for (const CLI::App* command : commands_of(app)) lines.emplace_back(command->get_name(), command->get_description());
  if (!lines.empty()) {
    page += "\nCommands:\n";
    append_rows(page, lines);
  }

  const std::vector<FlagRow> rows = flag_rows(app);
  std::vector<std::string> groups;
  for (const FlagRow& row : rows) {
    if (std::find(groups.begin(), groups.end(), row.group) == groups.end()) groups.push_back(row.group);
  }
  // The global flags were declared first, and are read last.
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != kGlobalGroup; });
  for (const std::string& group : groups) {
    lines.clear();
    for (const FlagRow& row : rows) {
      if (row.group != group) continue;
      const std::string names = joined(row.names, ", ");
      lines.emplace_back(names.empty() || row.value.empty() ? names + row.value : names + " " + row.value, row.help);
    }
    page += "\n" + group + ":\n";
    append_rows(page, lines);
  }
  if (!app.get_footer().empty()) page += "\nExamples:\n" + app.get_footer() + "\n";
  return page;
}

}  // namespace firstlayer::cli
