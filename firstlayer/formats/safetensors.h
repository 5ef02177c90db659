#pragma once
// safetensors: named tensors in one file, read by mapping it.
// Layout: u64 header length, a JSON header, the tensors' bytes. https://github.com/huggingface/safetensors#format

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/base/atomic_file.h"
#include "firstlayer/base/memory_map.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/formats/dtype.h"

namespace firstlayer {

/// A tensor inside a mapped file.
struct StoredTensor {
  std::string name;
  Dtype dtype;
  std::vector<std::size_t> shape;
  std::span<const std::byte> bytes;  ///< row-major, little-endian; not aligned in files from careless writers
};

/// The tensors of one file. Their bytes live as long as this object.
class SafetensorsFile {
 public:
  /// Maps and checks the whole header: its length, its JSON without duplicate keys, known types, shapes that match
  /// their offsets, and tensors that tile the rest of the file exactly. Throws FileError or FormatError.
  static SafetensorsFile open(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }

  /// In file order.
  std::span<const StoredTensor> tensors() const noexcept { return tensors_; }

  /// nullptr if there is none of that name.
  const StoredTensor* find(std::string_view name) const;

  /// Copies a float32 matrix out. Throws FormatError naming the tensor, its type and its shape if it is anything else.
  Tensor<float, 2> read_matrix(const StoredTensor& tensor) const;

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::map<std::string, std::string> metadata_;
  std::vector<StoredTensor> tensors_;
};

/// What a writer must know before the first byte.
struct TensorSpec {
  std::string name;
  Dtype dtype;
  std::vector<std::size_t> shape;
};

/// Writes a file tensor by tensor, in parts of any size, so that a tensor need never be in memory whole. The bytes
/// are those that Hugging Face's library writes: widest type first, then by name. (That library writes metadata of
/// several keys in no fixed order; here they are sorted.)
class SafetensorsWriter {
 public:
  /// Writes the header. Throws FileError, and std::invalid_argument for names that repeat, are "__metadata__" or not
  /// UTF-8, and for shapes of more than 64 axes or whose bytes do not fit 64 bits.
  SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorSpec> tensors,
                    const std::map<std::string, std::string>& metadata = {});

  /// In the order in which their bytes must be appended.
  std::span<const TensorSpec> tensors() const noexcept { return tensors_; }

  /// The next bytes of the tensor in turn; tensors without elements have no turn. Throws FileError, and
  /// std::invalid_argument past the tensor's end.
  void append(std::span<const std::byte> bytes);

  /// Puts the file in place. Throws FileError, and std::invalid_argument naming the first tensor that is short.
  void commit();

 private:
  void begin_tensor(std::size_t index);

  std::vector<TensorSpec> tensors_;
  std::size_t current_ = 0;          ///< the tensor in turn
  std::uint64_t missing_bytes_ = 0;  ///< of that tensor
  AtomicFile file_;
};

}  // namespace firstlayer
