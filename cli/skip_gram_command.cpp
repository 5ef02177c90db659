#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/skip_gram_flags.h"
#include "cli/skip_gram_log.h"
#include "cli/stop_signals.h"
#include "cli/token_text.h"
#include "cli/vector_table.h"
#include "cli/whole_text.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/formats/npy.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/formats/word_vectors.h"
#include "firstlayer/train/skip_gram.h"
#include "firstlayer/train/word_vocabulary.h"

namespace firstlayer::cli {
namespace {

/// Whether a file has rows without words, as tables of tokens are kept.
bool is_matrix_file(const std::filesystem::path& path) {
  return path.extension() == ".safetensors" || path.extension() == ".npy" || std::filesystem::is_directory(path);
}

/// The table that --weights names must be as wide as --dim says, if it says anything.
std::size_t checked_width(const SkipGramFlags& flags, std::size_t width) {
  if (!flags.dim || *flags.dim == width) return width;
  throw Failure(kUsage,
                fmt::format("--dim: the table in {} has d = {}, received {}", *flags.weights, width, *flags.dim),
                "without --dim the table decides");
}

/// Learns, and tells on the console from what and how far it has come. Throws Failure if there was nothing to learn.
void learn(SkipGram& model, const SkipGramFlags& flags, const WordSentences& text, const std::string& what,
           Console& console) {
  hear_stop_signals();
  console.note(fmt::format("{} to learn from", what));
  SkipGramLog log(console, flags.epochs);
  SkipGramProgress reached{};
  model.train(text.ids, text.ends, [&](const SkipGramProgress& progress) {
    const bool stop = stop_signal_came();
    reached = progress;
    log.add(progress, stop || progress.words == progress.total_words);
    return !stop;
  });
  if (log.pairs() == 0 && reached.words == reached.total_words) {
    throw Failure(kBadData, "no word has a neighbour to learn from",
                  "a line is a sentence; --min-count leaves out rare words, --sample frequent ones");
  }
  if (reached.words < reached.total_words) {
    console.note(fmt::format("stopped after {} of {} words", grouped(reached.words), grouped(reached.total_words)));
  }
}

WordVocabulary count_words(std::string_view text, const SkipGramFlags& flags) {
  try {
    return WordVocabulary(text, flags.min_count.value_or(5));
  } catch (const std::invalid_argument& error) {
    throw Failure(kBadData, error.what(), "a longer text, or a smaller --min-count");
  }
}

/// Words start from the rows that --weights has for them, the others as they do without it.
SkipGram starting_model(const WordVocabulary& words, const SkipGramFlags& flags, SkipGramOptions options,
                        const Console& console) {
  if (!flags.weights) return {words.counts(), options};
  if (is_matrix_file(*flags.weights)) {
    throw Failure(kUsage, fmt::format("--weights: {} has no words", *flags.weights),
                  "a file of word2vec, fastText or GloVe has; --tokens starts from tables without");
  }
  const WordVectorsFile file = WordVectorsFile::open(*flags.weights);
  options.dim = checked_width(flags, file.dim());
  Tensor<float, 2> table = SkipGram(words.counts(), options).vectors();
  std::size_t found = 0;
  for (TokenId id = 0; id < words.size(); ++id) {
    const std::optional<TokenId> row = file.find(words.word(id));
    if (!row) continue;
    file.read_row(*row, table.view()[id]);
    ++found;
  }
  if (found == 0) {
    throw Failure(kBadData,
                  fmt::format("none of the {} words of the text is in {}", grouped(words.size()), *flags.weights));
  }
  console.note(fmt::format("{} of {} words start from {}", grouped(found), grouped(words.size()), *flags.weights));
  return {words.counts(), table.view(), options};
}

void learn_words(const SkipGramFlags& flags, Console& console) {
  const WholeText text(flags.text);
  constexpr std::size_t kSeconds = 50'000'000;  // of bytes, whose words are counted and numbered in some seconds
  if (text.bytes().size() >= kSeconds) {
    console.note(fmt::format("counting the words of {} MB", grouped(text.bytes().size() / 1'000'000)));
  }
  const WordVocabulary words = count_words(text.bytes(), flags);
  const WordSentences sentences = words.encode(text.bytes());
  SkipGram model = starting_model(words, flags, skip_gram_options(flags, console.threads()), console);
  const std::string what =
      fmt::format("{} words, {} different ones,", grouped(sentences.ids.size()), grouped(words.size()));
  learn(model, flags, sentences, what, console);

  const Tensor<float, 2> vectors = model.vectors();
  const bool binary = flags.output->ends_with(".bin");
  WordVectorsWriter file(*flags.output, vectors.dim(0), vectors.dim(1),
                         binary ? WordVectorsLayout::kBinary : WordVectorsLayout::kText);
  for (TokenId id = 0; id < words.size(); ++id) file.append(words.word(id), vectors.view()[id]);
  file.commit();
  console.note(fmt::format("{}: {} words, d = {}", *flags.output, grouped(words.size()), vectors.dim(1)));
}

/// Ids with the end of each text.
WordSentences read_token_ids(const TextFlags& flags, const Tokenizer& tokenizer, const Console& console) {
  WordSentences texts;
  const auto append = [&](const TextFlags& text) {
    encode_text(text, tokenizer, console,
                [&](std::span<const TokenId> part) { texts.ids.insert(texts.ids.end(), part.begin(), part.end()); });
    texts.ends.push_back(texts.ids.size());
  };
  if (flags.files.size() < 2) {
    append(flags);
    return texts;
  }
  for (const std::string& file : flags.files) {
    TextFlags one = flags;
    one.files = {file};
    append(one);
  }
  return texts;
}

SkipGram starting_model(std::span<const TokenId> ids, const Tokenizer& tokenizer, const SkipGramFlags& flags,
                        SkipGramOptions options) {
  if (!flags.weights) return {count_ids(ids, tokenizer.vocabulary_size()), options};
  if (!is_matrix_file(*flags.weights)) {
    throw Failure(kUsage, fmt::format("--weights: {} is no table of tokens", *flags.weights),
                  "a .safetensors file, a folder with model.safetensors, or an .npy matrix");
  }
  const VectorTable table({.weights = flags.weights, .tensor = flags.tensor, .vocabulary = flags.text.vocabulary},
                          options.threads);
  if (table.size() < tokenizer.vocabulary_size()) {
    throw Failure(kBadData, fmt::format("{} has {} rows, the vocabulary {} has {} tokens", table.origin(),
                                        grouped(table.size()), tokenizer.name(), grouped(tokenizer.vocabulary_size())));
  }
  options.dim = checked_width(flags, table.rows().dim(1));
  return {count_ids(ids, table.size()), table.rows().view(), options};
}

void write_matrix(const std::string& path, const Tensor<float, 2>& table) {
  const std::vector<std::size_t> shape = {table.dim(0), table.dim(1)};
  const std::span<const std::byte> bytes = std::as_bytes(table.flat());
  if (path.ends_with(".npy")) {
    NpyWriter file(path, Dtype::kF32, shape);
    file.append(bytes);
    file.commit();
  } else {
    SafetensorsWriter file(path, {{"wte.weight", Dtype::kF32, shape}});
    file.append(bytes);
    file.commit();
  }
}

void learn_tokens(const SkipGramFlags& flags, Console& console) {
  const Tokenizer tokenizer = Tokenizer::get_encoding(flags.text.vocabulary);
  const WordSentences texts = read_token_ids(flags.text, tokenizer, console);
  if (texts.ids.empty()) throw Failure(kBadData, "expected a text to learn from, received an empty one");
  SkipGram model = starting_model(texts.ids, tokenizer, flags, skip_gram_options(flags, console.threads()));
  learn(model, flags, texts, fmt::format("{} ids", grouped(texts.ids.size())), console);
  const Tensor<float, 2> vectors = model.vectors();
  write_matrix(*flags.output, vectors);
  console.note(fmt::format("{}: a table {}", *flags.output, shape_text(vectors.shape())));
}

void run(const SkipGramFlags& flags, Console& console) {
  check_skip_gram_flags(flags);
  flags.tokens ? learn_tokens(flags, console) : learn_words(flags, console);
}

}  // namespace

Command add_skip_gram(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "skip-gram", "Word vectors from a text, by word2vec's skip-gram: each word foretells those around it.");
  const auto flags = std::make_shared<SkipGramFlags>();
  add_skip_gram_flags(*app, *flags);
  app->footer(
      "  firstlayer skip-gram --file corpus.txt --output vectors.bin\n"
      "  firstlayer skip-gram --file corpus.txt --dim 300 --window 10 --epochs 3 \\\n"
      "    --output vectors.vec --json > metrics.jsonl\n"
      "  firstlayer skip-gram --file the-verdict.txt --tokens \\\n"
      "    --output table.safetensors");
  return {app, [flags](Console& console) { run(*flags, console); }};
}

}  // namespace firstlayer::cli
