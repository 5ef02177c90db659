#include "firstlayer/train/checkpoint/llmc_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/memory_map.h"
#include "firstlayer/train/checkpoint/weight_files.h"

namespace firstlayer {
namespace {

constexpr std::int32_t kMagic = 20240326;
constexpr std::int32_t kFloat32Version = 3;
constexpr std::int32_t kBFloat16Version = 5;
constexpr std::size_t kHeaderNumbers = 256;
constexpr std::size_t kMostAxis = std::size_t{1} << 24;  // keeps every product of sizes below 2^64

struct Header {
  std::array<std::int32_t, 8> numbers;

  std::size_t operator[](std::size_t i) const { return static_cast<std::size_t>(numbers[i]); }
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& expected, const std::string& received) {
  throw FormatError(path, "expected " + expected + ", received " + received);
}

Header read_header(std::span<const std::byte> file, const std::filesystem::path& path) {
  Header header;
  if (file.size() < kHeaderNumbers * sizeof(std::int32_t)) {
    refuse(path, "a header of 1024 bytes", std::to_string(file.size()) + "; the file was cut off, get it again");
  }
  std::memcpy(&header.numbers, file.data(), sizeof(header.numbers));
  const auto [magic, version, context, vocabulary, layers, heads, dim, padded] = header.numbers;
  if (magic != kMagic) refuse(path, "llm.c's number 20240326 at the start", std::to_string(magic));
  if (version != kFloat32Version && version != kBFloat16Version) {
    refuse(path, "version 3 (float32) or 5 (bfloat16)",
           std::to_string(version) + "; export it again with a newer llm.c");
  }
  constexpr std::array<const char*, 6> kNames = {"context", "vocabulary", "layers",
                                                 "heads",   "channels",   "padded vocabulary"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::int32_t size = header.numbers[i + 2];
    if (size < 1 || static_cast<std::size_t>(size) > kMostAxis) {
      refuse(path, std::string("a size of 1 to 2^24 as ") + kNames[i], std::to_string(size));
    }
  }
  if (dim % heads != 0) {
    refuse(path, "channels that are a multiple of heads", std::to_string(dim) + " and " + std::to_string(heads));
  }
  if (padded < vocabulary) {
    refuse(path, "a padded vocabulary of at least " + std::to_string(vocabulary), std::to_string(padded));
  }
  return header;
}

/// In the order of llm.c's ParameterTensors.
std::vector<StoredTensor> stored_tensors(const LlmcFile& file, Dtype dtype) {
  const std::size_t L = file.config.layers;
  const std::size_t d = file.config.dim;
  std::vector<StoredTensor> all;
  const auto add = [&](const char* name, std::vector<std::size_t> shape) {
    all.push_back({name, dtype, std::move(shape), {}});
  };
  add("wte", {file.padded_vocabulary, d});
  add("wpe", {file.config.context, d});
  add("ln1w", {L, d});
  add("ln1b", {L, d});
  add("qkvw", {L, 3 * d, d});
  add("qkvb", {L, 3 * d});
  add("attprojw", {L, d, d});
  add("attprojb", {L, d});
  add("ln2w", {L, d});
  add("ln2b", {L, d});
  add("fcw", {L, 4 * d, d});
  add("fcb", {L, 4 * d});
  add("fcprojw", {L, d, 4 * d});
  add("fcprojb", {L, d});
  add("lnfw", {d});
  add("lnfb", {d});
  return all;
}

/// Gives each tensor its bytes; they must fill the file.
void place(std::vector<StoredTensor>& tensors, std::span<const std::byte> numbers, const std::filesystem::path& path) {
  // Sizes up to 2^24 multiply to less than 2^64 in three axes, but their sum may not fit.
  __extension__ using Wide = unsigned __int128;
  Wide all = 0;
  for (const StoredTensor& tensor : tensors) {
    Wide bytes = dtype_bytes(tensor.dtype);
    for (const std::size_t extent : tensor.shape) bytes *= extent;
    all += bytes;
  }
  if (all != numbers.size()) {
    refuse(path,
           (all >> 63 == 0 ? std::to_string(static_cast<std::uint64_t>(all)) : "more than 2^63") +
               " bytes of weights after the header",
           std::to_string(numbers.size()) + (all > numbers.size() ? "; the file was cut off, get it again" : ""));
  }
  for (StoredTensor& tensor : tensors) {
    const std::size_t bytes = static_cast<std::size_t>(*tensor_bytes(tensor.dtype, tensor.shape));
    tensor.bytes = numbers.first(bytes);
    numbers = numbers.subspan(bytes);
  }
}

/// Layer `layer` of tensor number `which` of a block.
StoredTensor layer_of(const LlmcFile& file, std::size_t which, std::size_t layer) {
  const StoredTensor& all = file.stored[2 + which];
  const std::size_t bytes = all.bytes.size() / file.config.layers;
  return {all.name, all.dtype, {all.shape.begin() + 1, all.shape.end()}, all.bytes.subspan(layer * bytes, bytes)};
}

void copy_tensor(const StoredTensor& from, std::span<float> out) {
  if (from.shape.size() == 1) return copy_floats(from, out);
  copy_transposed(from, from.shape[1], from.shape[0], out);
}

}  // namespace

LlmcFile parse_llmc(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  const Header header = read_header(bytes, path);
  LlmcFile file;
  file.config = {
      .vocabulary = header[3], .context = header[2], .layers = header[4], .heads = header[5], .dim = header[6]};
  file.padded_vocabulary = header[7];
  file.stored = stored_tensors(file, header[1] == kFloat32Version ? Dtype::kF32 : Dtype::kBF16);
  place(file.stored, bytes.subspan(kHeaderNumbers * sizeof(std::int32_t)), path);
  return file;
}

GptParameters load_llmc(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  const LlmcFile file = parse_llmc(mapped.bytes(), path);
  GptParameters parameters(file.config);
  const GptLayout& layout = parameters.layout();
  copy_floats(file.stored[0], parameters[layout.token_table()]);  // without the rows that pad it
  copy_floats(file.stored[1], parameters[*layout.position_table()]);
  for (std::size_t layer = 0; layer < file.config.layers; ++layer) {
    for (std::size_t which = 0; which < kBlockTensors; ++which) {
      copy_tensor(layer_of(file, which, layer), parameters[layout.block(layer, static_cast<BlockTensor>(which))]);
    }
  }
  const std::size_t last = layout.last_norm_weight();
  copy_floats(*(file.stored.end() - 2), parameters[last]);
  copy_floats(*(file.stored.end() - 1), parameters[last + 1]);
  return parameters;
}

}  // namespace firstlayer
