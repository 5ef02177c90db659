#include "cli/vector_table.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "cli/failure.h"
#include "cli/one_token.h"
#include "cli/suggestion.h"
#include "cli/text_input.h"
#include "cli/token_text.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/formats/npy_header.h"
#include "firstlayer/formats/stored_rows.h"

namespace firstlayer::cli {
namespace {

/// What published models call their token table.
constexpr std::array<std::string_view, 6> kTokenTables = {
    "wte.weight",          "transformer.wte.weight", "model.embed_tokens.weight",
    "embed_tokens.weight", "embeddings.weight",      "bert.embeddings.word_embeddings.weight"};

bool is_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kNpyMagic.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == kNpyMagic;
}

/// The file that holds the table: `path`, or the weights in a model's folder.
std::string file_of(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  const std::filesystem::path inside = std::filesystem::path(path) / "model.safetensors";
  if (!std::filesystem::exists(inside)) {
    throw Failure(kInputOutput, fmt::format("{}: expected model.safetensors in the folder, received none", path),
                  "--weights takes a file as well: .safetensors, .npy, or word vectors");
  }
  return inside.string();
}

const StoredTensor& choose_tensor(const SafetensorsFile& file, const std::optional<std::string>& wanted) {
  std::vector<std::string> matrices;
  for (const StoredTensor& tensor : file.tensors()) {
    if (tensor.shape.size() == 2) matrices.push_back(tensor.name);
  }
  if (wanted) {
    if (const StoredTensor* tensor = file.find(*wanted)) return *tensor;
    const std::string meant = nearest(*wanted, matrices);
    throw Failure(kBadData, fmt::format("{}: no tensor {}", file.path().string(), in_quotes(*wanted)),
                  meant.empty() ? "" : "--tensor " + printable(meant) + "?");
  }
  for (const std::string_view name : kTokenTables) {
    if (const StoredTensor* tensor = file.find(name)) return *tensor;
  }
  if (matrices.size() == 1) return *file.find(matrices.front());
  std::string some;
  for (const std::string& name : std::span(matrices).first(std::min<std::size_t>(matrices.size(), 6))) {
    some += fmt::format("{}{}", some.empty() ? "" : ", ", printable(name));
  }
  throw Failure(kBadData,
                fmt::format("{}: which of its {} matrices is the table?", file.path().string(), matrices.size()),
                matrices.empty() ? "" : "--tensor NAME, such as " + some);
}

}  // namespace

void add_tensor_flag(CLI::App& app, std::optional<std::string>& tensor, const std::string& group) {
  app.add_option("--tensor", tensor, "the table's name in a .safetensors file (default: the token table)")
      ->type_name("NAME")
      ->group(group);
}

void add_vector_table_flags(CLI::App& app, VectorTableFlags& flags) {
  constexpr char kGroup[] = "Table";
  add_file(app, "--weights", flags.weights,
           "the table: a .safetensors file, a folder with model.safetensors, an .npy matrix, or word vectors as "
           "word2vec (text or binary), fastText (.vec) and GloVe write them")
      ->group(kGroup);
  add_tensor_flag(app, flags.tensor, kGroup);
  add_vocabulary_flag(app, flags.vocabulary);
}

VectorTable::VectorTable(const VectorTableFlags& flags, unsigned threads) {
  if (!flags.weights) {
    throw Failure(kUsage, "expected --weights FILE, received none",
                  "a model.safetensors, an .npy matrix, or word vectors of word2vec or GloVe");
  }
  const std::string path = file_of(*flags.weights);
  origin_ = path;
  const bool safetensors = path.ends_with(".safetensors");
  if (flags.tensor && !safetensors) {
    throw Failure(kUsage, fmt::format("--tensor is for .safetensors files, not for {}", path));
  }
  if (safetensors) {
    read_tensor(path, flags, threads);
    name_rows(flags.vocabulary);
  } else if (is_npy(path)) {
    rows_ = StoredRows(NpyFile::open(path), path).read_all(threads);
    name_rows(flags.vocabulary);
  } else {
    WordVectorsFile file = WordVectorsFile::open(path);
    rows_ = file.read_all(threads);
    words_ = std::move(file);
  }
  if (rows_.size() == 0) {
    throw Failure(kBadData, fmt::format("{}: expected a table of at least one row, received {}", origin_,
                                        shape_text(rows_.shape())));
  }
}

void VectorTable::read_tensor(const std::string& path, const VectorTableFlags& flags, unsigned threads) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  const StoredTensor& tensor = choose_tensor(file, flags.tensor);
  rows_ = StoredRows(file, tensor).read_all(threads);
  origin_ = fmt::format("{}, {}", path, printable(tensor.name));
}

/// A table has a vocabulary's tokens if it has a row for each; rows behind them fill it up to a round number.
void VectorTable::name_rows(const std::string& vocabulary) {
  Tokenizer tokenizer = Tokenizer::get_encoding(vocabulary);
  vocabulary_ = fmt::format("{}, which has {} tokens", vocabulary, grouped(tokenizer.vocabulary_size()));
  if (rows_.dim(0) >= tokenizer.vocabulary_size()) words_ = std::move(tokenizer);
}

std::string_view VectorTable::word(TokenId row) const {
  if (const auto* tokenizer = std::get_if<Tokenizer>(&words_)) {
    return row < tokenizer->vocabulary_size() ? tokenizer->token_bytes(row) : std::string_view();
  }
  if (const auto* file = std::get_if<WordVectorsFile>(&words_)) return file->word(row);
  return {};
}

std::optional<TokenId> VectorTable::find(std::string_view word) const {
  if (const auto* file = std::get_if<WordVectorsFile>(&words_)) return file->find(word);
  if (const auto* tokenizer = std::get_if<Tokenizer>(&words_)) return find_token(*tokenizer, word);
  return std::nullopt;
}

TokenId VectorTable::row_of(std::string_view word) const {
  if (word.empty()) throw Failure(kUsage, "expected a word, received \"\"");
  if (const std::optional<TokenId> row = find(word)) return *row;
  refuse(word);
}

void VectorTable::refuse(std::string_view word) const {
  if (const auto* tokenizer = std::get_if<Tokenizer>(&words_)) refuse_token(*tokenizer, word);
  if (const auto* file = std::get_if<WordVectorsFile>(&words_)) {
    // Files begin with the words that are frequent; a search through all would take seconds.
    constexpr std::size_t kLookedAt = 100'000;
    std::vector<std::string> names;
    const std::size_t most_changes = word.size() / 3 + 1;
    for (std::size_t row = 0; row < std::min(file->size(), kLookedAt); ++row) {
      const std::string_view name = file->word(row);
      const std::size_t apart = std::max(name.size(), word.size()) - std::min(name.size(), word.size());
      if (apart <= most_changes) names.emplace_back(name);
    }
    const std::string meant = nearest(word, names);
    throw Failure(kBadData,
                  fmt::format("{} is not among the {} words of {}", in_quotes(word), grouped(file->size()), origin_),
                  meant.empty() ? "" : in_quotes(meant) + "?");
  }
  throw Failure(
      kBadData,
      fmt::format("{} has {} rows and no words: it is not of the vocabulary {}", origin_, grouped(size()), vocabulary_),
      "--id N asks for a row by its number");
}

}  // namespace firstlayer::cli
