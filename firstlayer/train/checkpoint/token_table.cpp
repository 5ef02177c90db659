#include "firstlayer/train/checkpoint/token_table.h"

#include <span>
#include <string>
#include <vector>

#include "firstlayer/formats/file_limits.h"
#include "firstlayer/formats/npy.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/formats/word_vectors.h"
#include "firstlayer/train/checkpoint/weight_files.h"

namespace firstlayer {
namespace {

constexpr std::string_view kTokens = "transformer.wte.weight";

const StoredTensor& table_of(const SafetensorsFile& file) {
  if (file.tensors().size() == 1) return file.tensors().front();
  const StoredTensor* found = nullptr;
  for (const StoredTensor& tensor : file.tensors()) {
    if (canonical_tensor_name(tensor.name) == kTokens) found = &tensor;
  }
  if (found != nullptr) return *found;
  throw FormatError(file.path(), "expected a table wte.weight, or one tensor alone, received " +
                                     std::to_string(file.tensors().size()) + " tensors without it");
}

void copy_table(const std::filesystem::path& path, const StoredTensor& table, GptParameters& parameters) {
  const std::size_t tensor = parameters.layout().token_table();
  const std::vector<std::size_t>& expected = parameters.layout().tensors()[tensor].shape;
  if (table.shape != expected || !is_float_tensor(table)) {
    throw FormatError(path, "expected a table (V, d) = " + shape_text(expected) + " of F32, BF16 or F16, received " +
                                std::string(dtype_name(table.dtype)) + " " + shape_text(table.shape));
  }
  copy_floats(table, parameters[tensor]);
}

}  // namespace

void load_token_table(const std::filesystem::path& path, GptParameters& parameters) {
  if (path.extension() == ".npy") {
    const NpyFile file = NpyFile::open(path);
    return copy_table(path, {"", file.dtype(), file.shape(), file.bytes()}, parameters);
  }
  if (path.extension() != ".safetensors") {
    const WordVectorsFile file = WordVectorsFile::open(path);
    const Tensor<float, 2> rows = file.read_all();
    return copy_table(path, {"", Dtype::kF32, {file.size(), file.dim()}, std::as_bytes(rows.flat())}, parameters);
  }
  const SafetensorsFile file = SafetensorsFile::open(path);
  copy_table(path, table_of(file), parameters);
}

}  // namespace firstlayer
