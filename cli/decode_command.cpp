#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/text_input.h"
#include "cli/token_text.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/encode/tokenizer.h"

namespace firstlayer::cli {
namespace {

struct DecodeFlags {
  std::vector<std::string> ids;
  std::string vocabulary = "gpt2";
};

/// Reads ids from text that arrives in parts. Spaces, line ends and commas stand between them.
class IdParser {
 public:
  IdParser(std::string source, const Tokenizer& tokenizer, std::function<void(TokenId)> take)
      : source_(std::move(source)), tokenizer_(tokenizer), take_(std::move(take)) {}

  void append(std::string_view part) {
    for (const char c : part) {
      ++position_;
      if (c == ' ' || c == '\n' || c == ',' || c == '\t' || c == '\r') {
        end_word();
      } else {
        extend_word(c);
      }
    }
  }

  void finish() {
    ++position_;
    end_word();
  }

 private:
  void extend_word(char c) {
    constexpr std::size_t kShownBytes = 40;
    if (length_ == 0) ++words_;
    ++length_;
    if (word_.size() < kShownBytes) word_ += c;
    if (c < '0' || c > '9') {
      all_digits_ = false;
    } else if (value_ < tokenizer_.vocabulary_size()) {
      value_ = value_ * 10 + static_cast<std::uint64_t>(c - '0');
    }
  }

  void end_word() {
    if (length_ == 0) return;
    const std::size_t vocabulary_size = tokenizer_.vocabulary_size();
    if (!all_digits_ || value_ >= vocabulary_size) {
      const std::string word = printable(word_) + (length_ > word_.size() ? "..." : "");
      const std::string place = fmt::format("word {}, at byte {} of {}", words_, position_ - 1 - length_, source_);
      throw Failure(kBadData,
                    all_digits_ ? fmt::format("id {} is not below {}, the size of the vocabulary {} ({})", word,
                                              vocabulary_size, tokenizer_.name(), place)
                                : fmt::format("\"{}\" is not an id ({})", word, place),
                    all_digits_ ? "" : "ids are whole numbers with spaces, line ends or commas between them");
    }
    take_(static_cast<TokenId>(value_));
    word_.clear();
    length_ = 0;
    value_ = 0;
    all_digits_ = true;
  }

  std::string source_;
  const Tokenizer& tokenizer_;
  std::function<void(TokenId)> take_;
  std::uint64_t position_ = 0;  ///< bytes seen
  std::uint64_t words_ = 0;
  std::string word_;  ///< the beginning of the word being read, for errors
  std::uint64_t length_ = 0;
  std::uint64_t value_ = 0;  ///< stops growing once it is no id
  bool all_digits_ = true;
};

void run(const DecodeFlags& flags, Console& console) {
  const Tokenizer tokenizer = Tokenizer::get_encoding(flags.vocabulary);
  std::uint64_t count = 0;
  std::string text;  // with --json, all of it: text is one of its values
  IdParser parser(flags.ids.empty() ? "standard input" : "the arguments", tokenizer, [&](TokenId id) {
    ++count;
    if (console.json()) {
      text += tokenizer.token_bytes(id);
    } else {
      console.print(tokenizer.token_bytes(id));
    }
  });
  if (flags.ids.empty()) {
    require_standard_input("firstlayer decode 15496 995, or ids from a pipe");
    read_parts("-", [&](std::string_view part) { parser.append(part); });
  }
  for (const std::string& argument : flags.ids) parser.append(argument + " ");
  parser.finish();
  if (console.json()) console.print("{}\n", json_text({{"ids", count}, {"text", text}, {"bytes", hex(text)}}));
}

}  // namespace

Command add_decode(CLI::App& root) {
  CLI::App* app = root.add_subcommand("decode", "Ids to exactly the bytes that they stand for; no line end is added.");
  const auto flags = std::make_shared<DecodeFlags>();
  app->add_option("IDS", flags->ids, "the ids; from standard input if there are none")
      ->type_name("IDS...")
      ->group("Ids");
  add_vocabulary_flag(*app, flags->vocabulary);
  app->footer(
      "  firstlayer decode 15496 11 995\n"
      "  firstlayer encode --file corpus.txt | firstlayer decode | cmp - corpus.txt");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
