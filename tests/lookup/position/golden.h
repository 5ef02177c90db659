#pragma once
// The tensors of tests/data/lookup/position.safetensors, which tools/make_position_golden.py wrote.

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "firstlayer/formats/dtype.h"
#include "firstlayer/formats/safetensors.h"

namespace firstlayer::testing {

template <class T>
constexpr Dtype kDtypeOf = std::is_same_v<T, float>          ? Dtype::kF32
                           : std::is_same_v<T, std::int32_t> ? Dtype::kI32
                                                             : Dtype::kU8;

/// The values of a tensor of type T, row by row; `shape` receives its axes.
template <class T>
std::vector<T> golden(const std::string& name, std::vector<std::size_t>* shape = nullptr) {
  static const SafetensorsFile file =
      SafetensorsFile::open(std::string(FIRSTLAYER_TEST_DATA) + "/lookup/position.safetensors");
  const StoredTensor* tensor = file.find(name);
  if (tensor == nullptr || tensor->dtype != kDtypeOf<T>) throw std::runtime_error("no golden values " + name);
  std::vector<T> values(tensor->bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
  if (shape != nullptr) *shape = tensor->shape;
  return values;
}

}  // namespace firstlayer::testing
