#pragma once
// Where the gradients of the parameters go, piece by piece as they are made: into memory, or straight into an
// optimizer's step, so that no dense gradient is ever held. Internal to the library.

#include <cstddef>
#include <span>

namespace firstlayer {

class GradientSink {
 public:
  virtual ~GradientSink() = default;

  /// Numbers offset, offset + 1, … of the gradient of tensor number `tensor` (gpt_parameters.h). Each number of every
  /// tensor comes once in a backward pass, and only after all that reads the parameter itself. Several threads call at
  /// once.
  virtual void take(std::size_t tensor, std::size_t offset, std::span<const float> numbers) = 0;
};

}  // namespace firstlayer
