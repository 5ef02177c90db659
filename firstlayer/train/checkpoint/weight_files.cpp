#include "firstlayer/train/checkpoint/weight_files.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/half.h"
#include "firstlayer/formats/file_limits.h"
#include "firstlayer/train/checkpoint/json_fields.h"
#include "firstlayer/train/network/product.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexEnd = ".index.json";

fs::path weights_in(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  throw FileError(folder, "expected model.safetensors or model.safetensors.index.json in it, received neither" +
                              std::string(fs::exists(folder / "pytorch_model.bin")
                                              ? "; save pytorch_model.bin with transformers' save_pretrained() again"
                                              : ""));
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\0", 2)) == name.npos;
}

template <class Half>
void widen(std::span<const std::byte> bytes, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Half half;
    std::memcpy(&half.bits, bytes.data() + i * sizeof(half.bits), sizeof(half.bits));
    out[i] = static_cast<float>(half);
  }
}

/// `out` begins at number `first` of the tensor.
void copy_some(const StoredTensor& tensor, std::size_t first, std::span<float> out) {
  if (out.empty()) return;
  const std::span<const std::byte> bytes = tensor.bytes.subspan(first * dtype_bytes(tensor.dtype));
  switch (tensor.dtype) {
    case Dtype::kF32:
      std::memcpy(out.data(), bytes.data(), out.size_bytes());
      return;
    case Dtype::kBF16:
      return widen<BFloat16>(bytes, out);
    case Dtype::kF16:
      return widen<Float16>(bytes, out);
    default:
      throw_invalid("copy_floats", "a tensor of F32, BF16 or F16", dtype_name(tensor.dtype));
  }
}

}  // namespace

std::map<std::string, std::string> parse_shard_index(std::string_view json, const fs::path& path) {
  const JsonFields map = JsonFields(json, path).need_object("weight_map");
  std::map<std::string, std::string> files;
  for (const std::string& name : map.names()) {
    std::string file = map.need_text(name);
    if (!is_plain_name(file)) map.refuse(name, "the name of a file beside the index");
    files.emplace(name, std::move(file));
  }
  return files;
}

std::string canonical_tensor_name(std::string_view name) {
  for (const std::string_view before : {"module.", "_orig_mod.", "transformer."}) {
    if (name.starts_with(before)) name.remove_prefix(before.size());
  }
  return name.starts_with("lm_head.") ? std::string(name) : "transformer." + std::string(name);
}

WeightFiles::WeightFiles(const fs::path& path) : path_(fs::is_directory(path) ? weights_in(path) : path) {
  if (!path_.string().ends_with(kIndexEnd)) {
    files_.push_back(SafetensorsFile::open(path_));
    for (const StoredTensor& tensor : files_.back().tensors()) add(tensor);
    return;
  }
  std::map<std::string, const SafetensorsFile*> opened;
  for (const auto& [name, file] : parse_shard_index(read_text_file(path_), path_)) {
    const SafetensorsFile*& shard = opened[file];
    if (shard == nullptr) {
      files_.push_back(SafetensorsFile::open(folder() / file));
      shard = &files_.back();
    }
    const StoredTensor* tensor = shard->find(name);
    if (tensor == nullptr) {
      throw FormatError(shard->path(), "expected the tensor " + quoted_text(name) + ", which the index " +
                                           path_.filename().string() + " places here, received none");
    }
    add(*tensor);
  }
}

void WeightFiles::add(const StoredTensor& tensor) {
  std::string name = canonical_tensor_name(tensor.name);
  if (!tensors_.emplace(name, &tensor).second) {
    throw FormatError(path_, "expected a tensor under one name, received " + quoted_text(name) +
                                 " with its prefix and without; remove one of them");
  }
}

const StoredTensor* WeightFiles::find(std::string_view name) const {
  const auto found = tensors_.find(std::string(name));
  return found == tensors_.end() ? nullptr : found->second;
}

bool is_float_tensor(const StoredTensor& tensor) {
  return tensor.dtype == Dtype::kF32 || tensor.dtype == Dtype::kBF16 || tensor.dtype == Dtype::kF16;
}

void copy_floats(const StoredTensor& tensor, std::span<float> out) { copy_some(tensor, 0, out); }

void copy_transposed(const StoredTensor& tensor, std::size_t rows, std::size_t columns, std::span<float> out) {
  // A few stored rows at a time, so that what is written to a row of `out` lies together.
  constexpr std::size_t kAtOnce = 16;
  std::vector<float> some(kAtOnce * rows);
  for (std::size_t first = 0; first < columns; first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, columns - first);
    copy_some(tensor, first * rows, std::span(some).first(count * rows));
    transpose({some.data(), rows, out.data() + first, columns}, count, rows);
  }
}

}  // namespace firstlayer
