// Tensors to a file and back. A file appears whole or not at all, and is read by mapping it.

#include <filesystem>
#include <iostream>

#include "firstlayer/firstlayer.h"

int main() {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "firstlayer_example.safetensors";

  firstlayer::Generator generator(123);
  firstlayer::Tensor<float, 2> table = firstlayer::random_table(6, 3, generator);
  firstlayer::SafetensorsWriter writer(path, {{"wte.weight", firstlayer::Dtype::kF32, {6, 3}}});
  writer.append(std::as_bytes(table.flat()));
  writer.commit();

  firstlayer::SafetensorsFile file = firstlayer::SafetensorsFile::open(path);
  for (const firstlayer::StoredTensor& tensor : file.tensors()) {
    std::cout << tensor.name << ' ' << firstlayer::dtype_name(tensor.dtype) << ' '
              << firstlayer::shape_text(tensor.shape) << '\n';
  }
  firstlayer::Tensor<float, 2> read = file.read_matrix(*file.find("wte.weight"));
  std::cout << "same values: " << std::boolalpha
            << std::equal(read.flat().begin(), read.flat().end(), table.flat().begin()) << '\n';
  std::filesystem::remove(path);
}
