#pragma once
// The flags of every command, declared once with CLI11. The help, the shell completions and the man page are made from
// these declarations.
//
// What a flag takes is its CLI11 type name, and reads as in the help: words of lower case between bars are the values
// to choose from, words of upper case stand for something else, FILE for the name of a file ("all|none|NAME", "FILE").

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

// CLI11, which is slow to compile: who uses more of it than these names includes <CLI/CLI.hpp>.
namespace CLI {  // NOLINT(readability-identifier-naming): its own spelling
class App;
class Option;
}  // namespace CLI

namespace firstlayer::cli {

class Console;

/// The flags that every command has. They may stand before the command and after it.
struct Globals {
  std::uint64_t threads = 0;  ///< 0: all processors
  bool json = false;
  bool quiet = false;
  bool version = false;
  bool help = false;
  std::string color = "auto";
};
void add_global_flags(CLI::App& app, Globals& globals);

/// One command: its flags, and what it does once they are read.
struct Command {
  CLI::App* app;
  std::function<void(Console&)> run;
};

/// The whole numbers that a flag takes.
struct Range {
  std::uint64_t least = 1;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// A flag whose value is a whole number; anything else is a usage error that names the flag and the value.
CLI::Option* add_number(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help,
                        Range range = {});
/// The same without a value of its own to start from; `otherwise` tells the help what holds then.
CLI::Option* add_number(CLI::App& app, const std::string& flag, std::optional<std::uint64_t>& value,
                        const std::string& help, const std::string& otherwise, Range range = {});

/// The numbers that a flag takes: from least to most, or between them where one is left out.
struct RealRange {
  double least = 0;
  double most = std::numeric_limits<double>::max();
  bool with_least = true;
  bool with_most = true;
};

/// A flag whose value is a number, whole or not.
CLI::Option* add_real(CLI::App& app, const std::string& flag, double& value, const std::string& help,
                      RealRange range = {});

/// A flag whose value is one of `choices`; value holds the default.
CLI::Option* add_choice(CLI::App& app, const std::string& flag, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help);

/// A flag whose value is the name of a file.
CLI::Option* add_file(CLI::App& app, const std::string& flag, std::optional<std::string>& value,
                      const std::string& help);

/// A line of the flag table, as the help, the completions and the man page read it.
struct FlagRow {
  std::vector<std::string> names;  ///< "-h", "--help"; for an argument without a flag, none
  std::string value;               ///< "N", "FILE", "auto|always|never"; empty if the flag takes no value
  std::string help;                ///< with its default at the end
  std::string group;

  bool global() const;  ///< every command has it
};
std::vector<FlagRow> flag_rows(const CLI::App& app);

/// The values to choose from in FlagRow::value.
std::vector<std::string> literal_choices(const std::string& value);

/// The commands of `root`, in the order in which they were added.
std::vector<const CLI::App*> commands_of(const CLI::App& root);

/// The text of --help for a command, or for `app` without a parent, for the whole program.
std::string help_text(const CLI::App& app);

/// What stands behind "Usage:", such as "firstlayer encode [FLAGS]".
std::string usage_line(const CLI::App& app);

}  // namespace firstlayer::cli
