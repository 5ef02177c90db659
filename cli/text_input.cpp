#include "cli/text_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "cli/failure.h"
#include "cli/progress.h"
#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/encode/stream_encoder.h"

namespace firstlayer::cli {
namespace {

constexpr char kVocabularyGroup[] = "Vocabulary";
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

/// A file descriptor that closes itself, unless it is standard input.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : path_(path == "-" ? "standard input" : path),
        file_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw_file_error(path_, "open", errno);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    if (file_ != STDIN_FILENO) close(file_);
  }

  /// 0 at the end.
  std::size_t read_some(char* bytes, std::size_t count) {
    ssize_t got = 0;
    do {
      got = read(file_, bytes, count);
    } while (got < 0 && errno == EINTR);
    if (got < 0) throw_file_error(path_, "read", errno);
    return static_cast<std::size_t>(got);
  }

 private:
  std::filesystem::path path_;
  int file_;
};

/// The bytes of all files together, if each is a regular file.
std::optional<std::uint64_t> total_bytes(const std::vector<std::string>& files) {
  std::uint64_t total = 0;
  for (const std::string& path : files) {
    struct stat status {};
    const int result = path == "-" ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status);
    if (result != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    total += static_cast<std::uint64_t>(status.st_size);
  }
  return total;
}

/// Encodes one text, handed to append() in parts, and counts.
class TextEncoder {
 public:
  TextEncoder(const Tokenizer& tokenizer, const SpecialRules& rules, std::string source, TextSize& size,
              const std::function<void(std::span<const TokenId>)>& take)
      : encoder_(tokenizer, rules), source_(std::move(source)), size_(size), take_(take) {}

  void append(std::string_view part) {
    size_.bytes += part.size();
    emit([&] { encoder_.append(part, ids_); });
  }

  void finish() {
    emit([&] { encoder_.finish(ids_); });
  }

 private:
  template <class Encode>
  void emit(const Encode& encode) {
    ids_.clear();
    try {
      encode();
    } catch (const SpecialTokenError& error) {
      throw Failure(kBadData,
                    fmt::format("{}: the text of the special token {} at byte {} is not allowed", source_,
                                error.token(), error.position()),
                    fmt::format("--allow-special '{}' makes it one id, --allow-special none makes it ordinary text",
                                error.token()));
    }
    size_.ids += ids_.size();
    if (!ids_.empty()) take_(ids_);
  }

  StreamEncoder encoder_;
  std::string source_;
  TextSize& size_;
  const std::function<void(std::span<const TokenId>)>& take_;
  std::vector<TokenId> ids_;
};

}  // namespace

void add_text_flags(CLI::App& app, TextFlags& flags) {
  constexpr char kGroup[] = "Text, from standard input if neither --text nor --file is given";
  // Repeatable, but one value each: `--file a b` is a mistake, not two files.
  app.add_option("--text", flags.text, "the text itself")->type_name("TEXT")->group(kGroup);
  app.add_option("--file", flags.files,
                 "a file, - for standard input; several are texts of their own, one after another")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kGroup);
  add_vocabulary_flag(app, flags.vocabulary);
  app.add_option(
         "--allow-special", flags.allow_special,
         "what the text of a special token becomes: all: its id; NAME, such as <|endoftext|>, repeatable: the id "
         "of that one; none: ordinary text (default: it is refused)")
      ->type_name("all|none|NAME")
      ->allow_extra_args(false)
      ->group(kVocabularyGroup);
}

void add_vocabulary_flag(CLI::App& app, std::string& vocabulary) {
  add_choice(app, "--vocab", vocabulary, Tokenizer::encoding_names(), "the vocabulary")->group(kVocabularyGroup);
}

SpecialRules special_rules(const std::vector<std::string>& allow_special, const Tokenizer& tokenizer) {
  SpecialRules rules;
  const auto has = [&](std::string_view name) {
    return std::find(allow_special.begin(), allow_special.end(), name) != allow_special.end();
  };
  if (has("all") && allow_special.size() > 1) {
    throw Failure(kUsage, "--allow-special all leaves nothing for another --allow-special to say");
  }
  rules.allow_all = has("all");
  rules.others_are_text = has("none");
  for (const std::string& name : allow_special) {
    if (name == "all" || name == "none") continue;
    std::string known;
    for (const SpecialToken& token : tokenizer.special_tokens()) {
      if (token.text == name) rules.allowed.push_back(name);
      known += fmt::format("{}{}", known.empty() ? "" : ", ", token.text);
    }
    if (rules.allowed.empty() || rules.allowed.back() != name) {
      throw Failure(kUsage, fmt::format("--allow-special: expected all, none or one of {}, received \"{}\"", known,
                                        printable(name)));
    }
  }
  return rules;
}

void require_standard_input(const std::string& instead) {
  if (isatty(STDIN_FILENO) == 1) {
    throw Failure(kUsage, "nothing to read: standard input is a terminal", instead);
  }
}

std::vector<std::string> text_files(const TextFlags& flags) {
  if (flags.text && !flags.files.empty()) {
    throw Failure(kUsage, "expected --text or --file, received both", "cat FILE… | joins texts from several places");
  }
  if (flags.text || !flags.files.empty()) return flags.files;
  require_standard_input("--text \"some text\", --file FILE, or text from a pipe");
  return {"-"};
}

void read_parts(const std::string& path, const std::function<void(std::string_view part)>& use) {
  InputFile file(path);
  std::string buffer(kReadBytes, '\0');
  while (const std::size_t got = file.read_some(buffer.data(), buffer.size())) {
    use(std::string_view(buffer).substr(0, got));
  }
}

TextSize encode_text(const TextFlags& flags, const Tokenizer& tokenizer, const Console& console,
                     const std::function<void(std::span<const TokenId>)>& take) {
  const std::vector<std::string> files = text_files(flags);
  const SpecialRules rules = special_rules(flags.allow_special, tokenizer);
  TextSize size;
  if (flags.text) {
    TextEncoder encoder(tokenizer, rules, "--text", size, take);
    encoder.append(*flags.text);
    encoder.finish();
    return size;
  }

  Progress progress(console, "encode", total_bytes(files));
  for (const std::string& path : files) {
    TextEncoder encoder(tokenizer, rules, path == "-" ? "standard input" : path, size, take);
    read_parts(path, [&](std::string_view part) {
      encoder.append(part);
      progress.advance(part.size());
    });
    encoder.finish();
  }
  return size;
}

}  // namespace firstlayer::cli
