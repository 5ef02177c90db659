#include "firstlayer/base/tensor.h"

namespace firstlayer {

std::string shape_text(std::span<const std::size_t> shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  if (shape.size() == 1) text += ",";
  return text + ")";
}

std::size_t element_count(std::span<const std::size_t> shape) {
  std::size_t count = 1;
  for (std::size_t extent : shape) {
    if (extent == 0) return 0;
  }
  for (std::size_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) {
      throw_invalid("element_count", "a shape whose product fits 64 bits", shape_text(shape));
    }
  }
  return count;
}

}  // namespace firstlayer
