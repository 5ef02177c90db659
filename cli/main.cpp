// The command firstlayer: reads the flags, runs one command, and turns what goes wrong into words and an exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/suggestion.h"
#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/version.h"

namespace firstlayer::cli {
namespace {

/// A file opened later must not get the number of a standard stream that the caller has closed.
void occupy_standard_streams() {
  while (true) {
    const int file = open("/dev/null", O_RDONLY);
    if (file < 0) return;
    if (file > STDERR_FILENO) {
      close(file);
      return;
    }
  }
}

std::string name_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : app.get_parent()->get_name() + " " + app.get_name();
}

/// `word` was left over when the flags of `app` were read.
Failure unexpected_word(const CLI::App& app, const std::string& word) {
  const std::string bare = word.substr(0, word.find('='));
  const bool is_flag = bare.size() > 1 && bare.front() == '-';
  const bool is_command = !is_flag && app.get_parent() == nullptr;
  std::vector<std::string> known;
  if (is_command) {
    for (const CLI::App* command : commands_of(app)) known.push_back(command->get_name());
  } else if (is_flag) {
    for (const FlagRow& row : flag_rows(app)) known.insert(known.end(), row.names.begin(), row.names.end());
  }
  const std::string meant = nearest(bare, known);
  const std::string kind = is_flag ? "unknown flag" : is_command ? "unknown command" : "unexpected argument";
  return Failure(kUsage, fmt::format("{} \"{}\"", kind, printable(bare)),
                 fmt::format("{}see {} --help", meant.empty() ? "" : meant + "? ", name_of(app)));
}

class CommandLine {
 public:
  CommandLine() : root_("Raw text in, the input tensor of a GPT out.", "firstlayer") {
    add_global_flags(root_, globals_);
    root_.footer(
        "  firstlayer embed --text \"Every effort moves you\"\n"
        "  firstlayer encode --file corpus.txt --output corpus.bin\n"
        "  firstlayer COMMAND --help has more for each command");
    commands_ = {add_encode(root_),    add_decode(root_),  add_batches(root_),    add_embed(root_),
                 add_explain(root_),   add_train(root_),   add_generate(root_),   add_skip_gram(root_),
                 add_neighbors(root_), add_analogy(root_), add_completion(root_), add_man(root_)};
    root_.require_subcommand(0, 1);
    root_.allow_extras();
    for (const Command& command : commands_) {
      add_global_flags(*command.app, globals_);
      command.app->allow_extras();  // a word too many is reported in our words
    }
  }

  /// "firstlayer", and the command once it is known.
  std::string name() const { return name_of(chosen_app()); }

  void run(int argc, char** argv) {
    try {
      root_.parse(reversed_arguments(argc, argv));
    } catch (const CLI::ParseError& error) {
      throw Failure(kUsage, error.what(), "see " + name() + " --help");
    }
    Console console(globals_);
    if (globals_.help) {
      console.print(help_text(chosen_app()));
    } else if (globals_.version) {
      console.print("firstlayer {}\n", kVersion);
    } else {
      const CLI::App& app = chosen_app();
      for (const CLI::App* reader : {static_cast<const CLI::App*>(&root_), &app}) {
        for (const std::string& word : reader->remaining()) {
          if (word != "--") throw unexpected_word(*reader, word);  // CLI11 keeps what ends the flags
        }
      }
      if (&app == &root_) throw Failure(kUsage, "expected a command", "see firstlayer --help");
      for (const Command& command : commands_) {
        if (command.app == &app) command.run(console);
      }
    }
    console.flush();
  }

 private:
  /// As CLI11 takes them, last first. It would read the empty value of "--text=" as no value and take the next word;
  /// "--text" and an empty word say what is meant.
  std::vector<std::string> reversed_arguments(int argc, char** argv) const {
    std::vector<std::string> arguments;
    bool is_value = false;  // of the flag before it, whatever it looks like
    for (int i = 1; i < argc; ++i) {
      std::string argument = argv[i];
      const bool empty_value = !is_value && argument.starts_with("--") && argument.find('=') == argument.size() - 1;
      is_value = !is_value && takes_value(argument);
      if (empty_value) argument.pop_back();
      arguments.push_back(std::move(argument));
      if (empty_value) arguments.emplace_back();
    }
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
  }

  bool takes_value(const std::string& flag) const {
    const auto has = [&flag](const CLI::App& app) {
      const std::vector<FlagRow> rows = flag_rows(app);
      return std::any_of(rows.begin(), rows.end(), [&flag](const FlagRow& row) {
        return !row.value.empty() && std::find(row.names.begin(), row.names.end(), flag) != row.names.end();
      });
    };
    return has(root_) ||
           std::any_of(commands_.begin(), commands_.end(), [&](const Command& command) { return has(*command.app); });
  }

  const CLI::App& chosen_app() const {
    for (const Command& command : commands_) {
      if (command.app->parsed()) return *command.app;
    }
    return root_;
  }

  CLI::App root_;
  Globals globals_;
  std::vector<Command> commands_;
};

int report(const std::string& name, ExitCode code, const std::string& message, const std::string& hint = {}) {
  write_error(fmt::format("{}: {}\n{}", name, message, hint.empty() ? "" : "  hint: " + hint + "\n"));
  return code;
}

int run(int argc, char** argv) {
  CommandLine line;
  try {
    line.run(argc, argv);
    return kDone;
  } catch (const OutputClosed&) {
    return kDone;
  } catch (const Finding&) {
    return kFinding;
  } catch (const Failure& error) {
    return report(line.name(), error.code(), error.what(), error.hint());
  } catch (const FormatError& error) {
    return report(line.name(), kBadData, error.what());
  } catch (const FileError& error) {
    return report(line.name(), kInputOutput, error.what());
  } catch (const std::bad_alloc&) {
    return report(line.name(), kInputOutput, "not enough memory", "smaller sizes need less: --dim, --context");
  } catch (const std::filesystem::filesystem_error& error) {
    return report(line.name(), kInputOutput, error.what());
  } catch (const std::exception& error) {
    return report(line.name(), kBadData, error.what());
  }
}

}  // namespace
}  // namespace firstlayer::cli

int main(int argc, char** argv) {
  firstlayer::cli::occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), so that files are cleaned up
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that grows past the limit of the shell
  try {
    return firstlayer::cli::run(argc, argv);
  } catch (...) {  // only the words for an error can fail so late, and only for want of memory
    firstlayer::cli::write_error("firstlayer: not enough memory\n");
    return firstlayer::cli::kInputOutput;
  }
}
