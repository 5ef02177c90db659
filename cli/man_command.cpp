#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/console.h"
#include "firstlayer/version.h"

namespace firstlayer::cli {
namespace {

/// `text` so that roff shows it as it is.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// The global flags of `app`, or the others.
std::string flag_list(const CLI::App& app, bool global) {
  std::string page;
  for (const FlagRow& row : flag_rows(app)) {
    if (row.global() != global) continue;
    std::string names;
    for (const std::string& name : row.names) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    }
    if (!row.value.empty()) names += fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", roff(row.value));
    page += fmt::format(".TP\n{}\n{}\n", names, roff(row.help));
  }
  return page;
}

std::string examples(const CLI::App& app) { return fmt::format(".PP\n.nf\n{}\n.fi\n", roff(app.get_footer())); }

std::string man_page(const CLI::App& root) {
  std::string page = fmt::format(
      ".TH FIRSTLAYER 1 \"\" \"firstlayer {}\" \"User Commands\"\n.SH NAME\nfirstlayer \\- {}\n.SH SYNOPSIS\n",
      kVersion, roff(root.get_description()));
  for (const CLI::App* command : commands_of(root)) page += fmt::format(".B {}\n.br\n", roff(usage_line(*command)));
  page +=
      ".SH DESCRIPTION\nResults go to standard output, progress and messages to standard error. Nothing is fetched "
      "from "
      "a network.\n";
  page +=
      ".SH GLOBAL FLAGS\nThey may stand before the command and after it.\n" + flag_list(root, true) + ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(root)) {
    page += fmt::format(".SS {}\n{}\n", roff(usage_line(*command)), roff(command->get_description()));
    page += flag_list(*command, false) + examples(*command);
  }
  page +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nThe work is done, or the reader of standard output has closed it.\n"
      ".TP\n1\nexplain has found a claim that does not hold.\n"
      ".TP\n2\nThe command was not called as it should be.\n"
      ".TP\n3\nThe data is bad: a special token that is not allowed, an id outside the vocabulary, a text that is too "
      "short, a file that is not what its format says.\n"
      ".TP\n4\nA file or standard output cannot be read or written, or memory is short.\n"
      ".SH ENVIRONMENT\n"
      ".TP\nNO_COLOR\nIf set and not empty, no colour unless \\fB\\-\\-color always\\fR asks for it.\n"
      ".TP\nCOLORTERM\nIf truecolor or 24bit, colours have 24 bits, else they are among 256.\n"
      ".TP\nTMPDIR\nThe folder for temporary files when no output file is written.\n";
  return page;
}

}  // namespace

Command add_man(CLI::App& root) {
  CLI::App* app = root.add_subcommand("man", "The manual page.");
  app->footer("  firstlayer man | man -l -");
  const CLI::App* table = &root;
  return {app, [table](Console& console) { console.print(man_page(*table)); }};
}

}  // namespace firstlayer::cli
