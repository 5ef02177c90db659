#include "firstlayer/lookup/input_embedding.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/lookup/check_input.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/row_kernels.h"

namespace firstlayer {
namespace {

const EmbeddingSizes& checked(const EmbeddingSizes& sizes) {
  if (sizes.vocabulary == 0 || sizes.context == 0 || sizes.dim == 0) {
    throw_invalid("InputEmbedding", "V, context and d of at least 1",
                  "V = " + std::to_string(sizes.vocabulary) + ", context = " + std::to_string(sizes.context) +
                      ", d = " + std::to_string(sizes.dim));
  }
  return sizes;
}

EmbeddingSizes sizes_of(const Shape<2>& tokens, const Shape<2>& positions) {
  if (tokens[1] != positions[1]) {
    throw_invalid("InputEmbedding", "tables of one width d",
                  "a token table " + shape_text(tokens) + " of width " + std::to_string(tokens[1]) +
                      " and a position table " + shape_text(positions) + " of width " + std::to_string(positions[1]));
  }
  return checked({tokens[0], positions[0], tokens[1]});
}

/// The first few names, for a message.
std::string name_list(std::span<const StoredTensor> tensors) {
  constexpr std::size_t kShown = 5;
  std::string list;
  for (const StoredTensor& tensor : tensors.first(std::min(kShown, tensors.size()))) {
    list += (list.empty() ? "" : ", ") + tensor.name;
  }
  if (tensors.size() > kShown) list += ", …";
  return list.empty() ? "none" : list;
}

/// The matrix `name`, under that name or with the prefix that GPT2LMHeadModel adds.
Tensor<float, 2> read_table(const SafetensorsFile& file, const std::string& name) {
  const std::string prefixed = "transformer." + name;
  const StoredTensor* plain = file.find(name);
  const StoredTensor* other = file.find(prefixed);
  if (plain != nullptr && other != nullptr) {
    throw FormatError(file.path(), "expected a table under one name, received both " + name + " and " + prefixed +
                                       "; remove one of them");
  }
  if (plain == nullptr && other == nullptr) {
    throw FormatError(file.path(), "expected a GPT-2 table " + name + " or " + prefixed + ", received " +
                                       std::to_string(file.tensors().size()) +
                                       " tensors: " + name_list(file.tensors()));
  }
  const StoredTensor& tensor = plain != nullptr ? *plain : *other;
  Tensor<float, 2> table = file.read_matrix(tensor);
  if (table.size() == 0) {
    throw FormatError(file.path(),
                      "expected rows and columns in " + tensor.name + ", received shape " + shape_text(table.shape()));
  }
  return table;
}

constexpr std::string_view kForward = "InputEmbedding::forward";

}  // namespace

InputEmbedding::InputEmbedding(const EmbeddingSizes& sizes, Generator& generator, const EmbeddingStd& std)
    : sizes_(checked(sizes)),
      token_table_(random_table(sizes.vocabulary, sizes.dim, generator, std.token)),
      position_table_(random_table(sizes.context, sizes.dim, generator, std.position)) {}

InputEmbedding::InputEmbedding(Tensor<float, 2> token_table, Tensor<float, 2> position_table)
    : sizes_(sizes_of(token_table.shape(), position_table.shape())),
      token_table_(std::move(token_table)),
      position_table_(std::move(position_table)) {}

InputEmbedding::InputEmbedding(Tensor<float, 2> token_table)
    : sizes_{token_table.dim(0), 0, token_table.dim(1)}, token_table_(std::move(token_table)) {
  if (token_table_.size() == 0) {
    throw_invalid("InputEmbedding", "a token table with rows and columns", shape_text(token_table_.shape()));
  }
}

InputEmbedding InputEmbedding::load_gpt2(const std::filesystem::path& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  Tensor<float, 2> tokens = read_table(file, "wte.weight");
  Tensor<float, 2> positions = read_table(file, "wpe.weight");
  if (tokens.dim(1) != positions.dim(1)) {
    throw FormatError(path, "expected wte.weight and wpe.weight of one width, received " + shape_text(tokens.shape()) +
                                " and " + shape_text(positions.shape()));
  }
  return {std::move(tokens), std::move(positions)};
}

InputEmbedding InputEmbedding::load_gpt2_tokens(const std::filesystem::path& path) {
  return InputEmbedding(read_table(SafetensorsFile::open(path), "wte.weight"));
}

void InputEmbedding::forward(IdView ids, View<float, 3> out, unsigned threads) const {
  forward(ids, out, InputOptions{}, threads);
}

void InputEmbedding::forward(IdView ids, View<float, 3> out, const InputOptions& options, unsigned threads) const {
  check_out(kForward, ids.shape(), sizes_.dim, out);
  check_input_options(kForward, options, sizes_, ids.shape());
  const CheckedIds checked(kForward, token_table_.shape(), ids);
  row_kernels::Job job{token_table_, nullptr, checked.view(), out, options.scale};
  std::optional<CheckedIds> positions;
  if (has_positions()) {
    job.positions = position_table_.view().data() + options.offset * sizes_.dim;
    if (options.positions) {
      positions.emplace(kForward, position_table_.shape(), *options.positions, kPositionsBelow);
      job.position_ids = positions->view().data();
    }
  }
  const row_kernels::Finish finish = [&](std::size_t place, std::span<float> row) {
    if (options.normalization) normalize_row(*options.normalization, row);
    if (options.dropout != nullptr) options.dropout->apply_at(place * row.size(), row);
  };
  if (options.normalization || options.dropout != nullptr) job.finish = &finish;
  row_kernels::run(job, threads);
}

Tensor<float, 3> InputEmbedding::forward(IdView ids, unsigned threads) const {
  Tensor<float, 3> out({ids.dim(0), ids.dim(1), sizes_.dim});
  forward(ids, out, threads);
  return out;
}

}  // namespace firstlayer
