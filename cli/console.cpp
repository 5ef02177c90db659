#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cli/failure.h"
#include "firstlayer/base/errors.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kHoldBytes = std::size_t{64} << 10;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool wants_colors(const std::string& choice) {
  if (choice != "auto") return choice == "always";
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" && isatty(STDOUT_FILENO) == 1;
}

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

Console::Console(const Globals& globals)
    : json_(globals.json),
      quiet_(globals.quiet),
      threads_(static_cast<unsigned>(globals.threads)),
      colors_(wants_colors(globals.color)),
      true_color_(environment("COLORTERM") == "truecolor" || environment("COLORTERM") == "24bit"),
      progress_(!globals.quiet && isatty(STDERR_FILENO) == 1),
      columns_(terminal_columns()) {}

void Console::print(std::string_view bytes) {
  held_.append(bytes);
  if (held_.size() >= kHoldBytes) flush();
}

void Console::flush() {
  std::string_view rest = held_;
  while (!rest.empty()) {
    const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) throw OutputClosed();
      throw_file_error("standard output", "write", errno);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  held_.clear();
}

void Console::note(std::string_view line) const {
  if (!quiet_) write_error(std::string(line) + "\n");
}

void write_error(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace firstlayer::cli
