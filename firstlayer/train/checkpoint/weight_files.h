#pragma once
// The tensors of a model in one safetensors file, or in the several that an index names. Internal to the library.

#include <deque>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "firstlayer/formats/safetensors.h"

namespace firstlayer {

/// The file of each tensor, as "weight_map" of a model.safetensors.index.json says. Throws FormatError; a name of a
/// file that leads out of the index's folder is refused.
std::map<std::string, std::string> parse_shard_index(std::string_view json, const std::filesystem::path& path);

/// The name that GPT2LMHeadModel gives a tensor: without what torch.compile puts before it, with "transformer." before
/// all but the head. canonical_tensor_name("wte.weight") == "transformer.wte.weight".
std::string canonical_tensor_name(std::string_view name);

/// Maps all files; their tensors live as long as this object.
class WeightFiles {
 public:
  /// A .safetensors file, an index, or a folder with model.safetensors or model.safetensors.index.json in it. Throws
  /// FileError; FormatError for tensors that the index names and no file has, or that are there under two names.
  explicit WeightFiles(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }  ///< of the file, or of the index
  std::filesystem::path folder() const { return path_.parent_path(); }

  /// By canonical names.
  const std::map<std::string, const StoredTensor*>& tensors() const { return tensors_; }
  /// By its canonical name; nullptr if there is none.
  const StoredTensor* find(std::string_view name) const;

 private:
  void add(const StoredTensor& tensor);

  std::filesystem::path path_;
  std::deque<SafetensorsFile> files_;
  std::map<std::string, const StoredTensor*> tensors_;
};

/// Whether the tensor's type is one that copy_floats() reads: F32, BF16, F16.
bool is_float_tensor(const StoredTensor& tensor);

/// All numbers as float32. `out` has as many as the tensor, whose type is_float_tensor() has approved.
void copy_floats(const StoredTensor& tensor, std::span<float> out);

/// The tensor (columns, rows) as `out` (rows, columns).
void copy_transposed(const StoredTensor& tensor, std::size_t rows, std::size_t columns, std::span<float> out);

}  // namespace firstlayer
