#pragma once
// How a command ends when it cannot do its work: an exit code, a line, and a hint.

#include <stdexcept>
#include <string>

namespace firstlayer::cli {

enum ExitCode : int { kDone = 0, kFinding = 1, kUsage = 2, kBadData = 3, kInputOutput = 4 };

/// Printed as "firstlayer COMMAND: what()" and, below it, "  hint: …" if there is one.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}

  ExitCode code() const noexcept { return code_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ExitCode code_;
  std::string hint_;
};

/// Whoever read standard output has closed it and wants no more: the command ends without a word.
struct OutputClosed {};

/// A command that looks for something has printed what it found.
struct Finding {};

}  // namespace firstlayer::cli
