#pragma once
// The text that a command works on, and its way to ids: read in parts, never whole.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/flags.h"
#include "firstlayer/encode/tokenizer.h"

namespace firstlayer::cli {

struct TextFlags {
  std::optional<std::string> text;
  std::vector<std::string> files;
  std::string vocabulary = "gpt2";
  std::vector<std::string> allow_special;
};

/// --text, --file, --vocab and --allow-special.
void add_text_flags(CLI::App& app, TextFlags& flags);

/// --vocab alone.
void add_vocabulary_flag(CLI::App& app, std::string& vocabulary);

/// The rules that --allow-special asks for. Throws Failure for a name that is no special token of `tokenizer`.
SpecialRules special_rules(const std::vector<std::string>& allow_special, const Tokenizer& tokenizer);

/// Throws Failure (usage) if nothing is given and standard input is a terminal, where a command would seem to hang.
/// `instead` says what to give.
void require_standard_input(const std::string& instead);

/// The files that the flags name, "-" for standard input if they name nothing; none if --text is the text. Throws
/// Failure (usage) for --text beside --file, and as require_standard_input().
std::vector<std::string> text_files(const TextFlags& flags);

/// Calls use(part) with the bytes of the file at `path`, "-" for standard input, part after part. Throws FileError.
void read_parts(const std::string& path, const std::function<void(std::string_view part)>& use);

struct TextSize {
  std::uint64_t bytes = 0;
  std::uint64_t ids = 0;
};

/// Encodes the text that the flags name and calls take(ids) with the ids in order, part after part. Each file is a text
/// of its own: no token reaches from one into the next. Throws Failure for flags that contradict each other and for
/// special tokens that are not allowed, FileError for files.
TextSize encode_text(const TextFlags& flags, const Tokenizer& tokenizer, const Console& console,
                     const std::function<void(std::span<const TokenId>)>& take);

}  // namespace firstlayer::cli
