#include <algorithm>
#include <cstring>
#include <utility>

#include "firstlayer/formats/file_limits.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/formats/safetensors_header.h"

namespace firstlayer {

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  SafetensorsFile opened;
  opened.path_ = path;
  opened.file_ = MappedFile(path);
  SafetensorsContent content = parse_safetensors(opened.file_.bytes(), path);
  opened.metadata_ = std::move(content.metadata);
  opened.tensors_ = std::move(content.tensors);
  return opened;
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const StoredTensor& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

Tensor<float, 2> SafetensorsFile::read_matrix(const StoredTensor& tensor) const {
  if (tensor.dtype != Dtype::kF32 || tensor.shape.size() != 2) {
    const char* mend =
        tensor.dtype == Dtype::kF32 ? "name another tensor" : "convert it to float32 first (x.float() in PyTorch)";
    throw FormatError(path_, "tensor " + quoted_text(tensor.name) + ": expected a matrix of F32, received " +
                                 std::string(dtype_name(tensor.dtype)) + " " + shape_text(tensor.shape) + "; " + mend);
  }
  Tensor<float, 2> matrix({tensor.shape[0], tensor.shape[1]});
  // The bytes may be misaligned, so they are copied as bytes. An empty matrix has no memory to copy to.
  if (!tensor.bytes.empty()) std::memcpy(matrix.flat().data(), tensor.bytes.data(), tensor.bytes.size());
  return matrix;
}

}  // namespace firstlayer
