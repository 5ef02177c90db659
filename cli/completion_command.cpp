#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"

namespace firstlayer::cli {
namespace {

bool takes_file(const FlagRow& row) { return row.value.find("FILE") != std::string::npos; }

/// Names of all flags of `app` with a space between them.
std::string flag_names(const CLI::App& app) {
  std::string names;
  for (const FlagRow& row : flag_rows(app)) {
    for (const std::string& name : row.names) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

/// The words to choose from that arguments of `app` without a flag take.
std::string argument_choices(const CLI::App& app) {
  std::vector<std::string> choices;
  for (const FlagRow& row : flag_rows(app)) {
    if (row.names.empty()) choices = literal_choices(row.value);
  }
  return fmt::format("{}", fmt::join(choices, " "));
}

std::string command_names(const CLI::App& root) {
  std::string names;
  for (const CLI::App* command : commands_of(root)) names += (names.empty() ? "" : " ") + command->get_name();
  return names;
}

/// Cases of a bash `case` over "COMMAND FLAG" for the values of flags.
std::string bash_value_cases(const CLI::App& app, const std::string& command) {
  std::string cases;
  for (const FlagRow& row : flag_rows(app)) {
    if (row.value.empty()) continue;
    for (const std::string& flag : row.names) {
      cases += fmt::format("    '{} {}') ", command, flag);
      cases += takes_file(row) ? "_firstlayer_files"
                               : fmt::format("_firstlayer_words '{}'", fmt::join(literal_choices(row.value), " "));
      cases += "; return ;;\n";
    }
  }
  return cases;
}

std::string bash_script(const CLI::App& root) {
  std::string values = bash_value_cases(root, "");
  std::string words = fmt::format("    '') _firstlayer_words '{} {}' ;;\n", command_names(root), flag_names(root));
  for (const CLI::App* command : commands_of(root)) {
    values += bash_value_cases(*command, command->get_name());
    const std::string choices = argument_choices(*command);
    words += fmt::format("    {}) _firstlayer_words '{}{}{}' ;;\n", command->get_name(), choices,
                         choices.empty() ? "" : " ", flag_names(*command));
  }
  return fmt::format(R"(# bash completion for firstlayer
_firstlayer_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }}
_firstlayer_files() {{ compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word"); }}
_firstlayer() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before='' command='' i
  COMPREPLY=()
  if ((COMP_CWORD > 0)); then before=${{COMP_WORDS[COMP_CWORD - 1]}}; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
    {}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case "$command $before" in
{}  esac
  case $command in
{}  esac
}}
complete -F _firstlayer firstlayer
)",
                     fmt::format("{}", fmt::join(CLI::detail::split(command_names(root), ' '), " | ")), values, words);
}

/// `text` within single quotes of zsh, where colons and brackets would end a description.
std::string zsh_quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else if (c == ':' || c == '[' || c == ']' || c == '\\') {
      quoted += std::string("\\") + c;
    } else {
      quoted += c;
    }
  }
  return quoted;
}

std::string zsh_action(const FlagRow& row) {
  if (takes_file(row)) return "_files";
  return fmt::format("({})", fmt::join(literal_choices(row.value), " "));
}

/// The arguments of zsh's _arguments for the flags of `app`.
std::string zsh_arguments(const CLI::App& app) {
  std::string lines;
  for (const FlagRow& row : flag_rows(app)) {
    if (row.names.empty()) lines += fmt::format("    '*:{}:{}' \\\n", zsh_quoted(row.value), zsh_action(row));
    for (const std::string& name : row.names) {
      lines += fmt::format("    '*{}[{}]", name, zsh_quoted(row.help));
      if (!row.value.empty()) lines += fmt::format(":{}:{}", zsh_quoted(row.value), zsh_action(row));
      lines += "' \\\n";
    }
  }
  return lines;
}

std::string zsh_script(const CLI::App& root) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : commands_of(root)) {
    commands += fmt::format("      '{}:{}'\n", command->get_name(), zsh_quoted(command->get_description()));
    cases +=
        fmt::format("  {})\n    _arguments \\\n{}    && return ;;\n", command->get_name(), zsh_arguments(*command));
  }
  return fmt::format(R"(#compdef firstlayer
_firstlayer() {{
  local curcontext=$curcontext state line
  _arguments -C \
{}    '1: :->command' '*:: :->flags' && return
  case $state in
  command)
    local -a commands=(
{}    )
    _describe command commands && return ;;
  esac
  case $line[1] in
{}  esac
}}
if [[ $funcstack[1] == _firstlayer ]]; then _firstlayer "$@"; else compdef _firstlayer firstlayer; fi
)",
                     zsh_arguments(root), commands, cases);
}

/// `text` within single quotes of fish.
std::string fish_quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "'" + quoted + "'";
}

std::string fish_flags(const CLI::App& app, const std::string& condition) {
  std::string lines;
  for (const FlagRow& row : flag_rows(app)) {
    lines += "complete -c firstlayer -n " + fish_quoted(condition);
    for (const std::string& name : row.names) {
      lines += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!row.value.empty()) {
      const std::vector<std::string> choices = literal_choices(row.value);
      if (!row.names.empty()) lines += takes_file(row) ? " -r -F" : " -x";
      if (!choices.empty()) lines += " -a " + fish_quoted(fmt::format("{}", fmt::join(choices, " ")));
    }
    lines += " -d " + fish_quoted(row.help) + "\n";
  }
  return lines;
}

std::string fish_script(const CLI::App& root) {
  const std::string no_command = "not __fish_seen_subcommand_from " + command_names(root);
  std::string script = "# fish completion for firstlayer\ncomplete -c firstlayer -f\n" + fish_flags(root, no_command);
  for (const CLI::App* command : commands_of(root)) {
    script += fmt::format("complete -c firstlayer -n {} -a {} -d {}\n", fish_quoted(no_command), command->get_name(),
                          fish_quoted(command->get_description()));
    script += fish_flags(*command, "__fish_seen_subcommand_from " + command->get_name());
  }
  return script;
}

}  // namespace

Command add_completion(CLI::App& root) {
  CLI::App* app = root.add_subcommand("completion", "The completion script of a shell.");
  const auto shell = std::make_shared<std::string>();
  add_choice(*app, "SHELL", *shell, {"bash", "zsh", "fish"}, "the shell")->group("Shell");
  app->footer(
      "  source <(firstlayer completion bash)\n"
      "  firstlayer completion zsh > ~/.zfunc/_firstlayer\n"
      "  firstlayer completion fish > ~/.config/fish/completions/firstlayer.fish");
  const CLI::App* table = &root;
  return {app, [table, shell](Console& console) {
            if (*shell == "bash") {
              console.print(bash_script(*table));
            } else if (*shell == "zsh") {
              console.print(zsh_script(*table));
            } else if (*shell == "fish") {
              console.print(fish_script(*table));
            } else {
              throw Failure(kUsage, "expected a shell", "firstlayer completion bash, zsh or fish");
            }
          }};
}

}  // namespace firstlayer::cli
