#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/id_file.h"
#include "cli/output_path.h"
#include "cli/text_input.h"
#include "cli/token_text.h"
#include "firstlayer/encode/tokenizer.h"

namespace firstlayer::cli {
namespace {

struct EncodeFlags {
  TextFlags text;
  bool count = false;
  std::optional<std::string> output;
};

void print_ids(const EncodeFlags& flags, const Tokenizer& tokenizer, Console& console) {
  bool first = true;
  encode_text(flags.text, tokenizer, console, [&](std::span<const TokenId> ids) {
    console.print("{}{}", first ? "" : " ", ids_text(ids));
    first = false;
  });
  console.print("\n");
}

/// An array with an object on a line for each token. Offsets count on over all texts.
void print_tokens(const EncodeFlags& flags, const Tokenizer& tokenizer, Console& console) {
  std::uint64_t position = 0;
  console.print("[");
  encode_text(flags.text, tokenizer, console, [&](std::span<const TokenId> ids) {
    for (const TokenId id : ids) {
      const std::string_view bytes = tokenizer.token_bytes(id);
      const std::uint64_t end = position + bytes.size();
      console.print("{}{}", position == 0 ? "\n" : ",\n",
                    json_text({{"id", id}, {"bytes", hex(bytes)}, {"text", bytes}, {"start", position}, {"end", end}}));
      position = end;
    }
  });
  console.print(position == 0 ? "]\n" : "\n]\n");
}

void print_count(const EncodeFlags& flags, const TextSize& size, Console& console) {
  if (console.json()) {
    const double bytes_per_id = static_cast<double>(size.bytes) / static_cast<double>(size.ids);
    Json counts{{"bytes", size.bytes}, {"ids", size.ids}, {"bytes_per_id", nullptr}};
    if (size.ids > 0) counts["bytes_per_id"] = bytes_per_id;
    if (flags.output) counts["output"] = *flags.output;
    console.print("{}\n", json_text(counts));
  } else {
    console.print("{}\n", size.ids);
  }
}

void run(const EncodeFlags& flags, Console& console) {
  const Tokenizer tokenizer = Tokenizer::get_encoding(flags.text.vocabulary);
  if (flags.output) {
    IdFileWriter file(checked_output("--output", *flags.output, {".npy", ".bin"}), tokenizer.vocabulary_size());
    const TextSize size =
        encode_text(flags.text, tokenizer, console, [&](std::span<const TokenId> ids) { file.append(ids); });
    file.commit();
    if (flags.count || console.json()) {
      print_count(flags, size, console);
    } else {
      console.note(fmt::format("{}: {} ids, {}", *flags.output, grouped(size.ids), file.dtype()));
    }
  } else if (flags.count) {
    print_count(flags, encode_text(flags.text, tokenizer, console, [](std::span<const TokenId>) {}), console);
  } else if (console.json()) {
    print_tokens(flags, tokenizer, console);
  } else {
    print_ids(flags, tokenizer, console);
  }
}

}  // namespace

Command add_encode(CLI::App& root) {
  CLI::App* app = root.add_subcommand("encode", "Text to ids, on one line with spaces between them.");
  const auto flags = std::make_shared<EncodeFlags>();
  add_text_flags(*app, flags->text);
  constexpr char kGroup[] = "Result, ids on one line if neither is given";
  app->add_flag("--count", flags->count, "print the number of ids instead")->group(kGroup);
  add_file(*app, "--output", flags->output,
           "write the ids to a file instead: .npy, or .bin for nothing but the ids; 16-bit where the vocabulary fits, "
           "else 32-bit")
      ->group(kGroup);
  app->footer(
      "  firstlayer encode --text \"Hello, do you like tea?\"\n"
      "  firstlayer encode --text \"the end<|endoftext|>\" --allow-special all\n"
      "  firstlayer encode --file corpus.txt --output corpus.bin\n"
      "  firstlayer encode --json < corpus.txt");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
