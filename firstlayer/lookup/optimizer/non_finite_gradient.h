#pragma once
// The one error of a step that comes after the step.

#include <cstddef>
#include <stdexcept>
#include <string>

namespace firstlayer {

/// A gradient held an infinity or a NaN. The step was taken, with zeros in place of the numbers that are not finite, so
/// that table, state and step still fit together.
class NonFiniteGradient : public std::invalid_argument {
 public:
  NonFiniteGradient(const std::string& what, std::size_t row, std::size_t column)
      : std::invalid_argument(what), row_(row), column_(column) {}

  /// Of the first such number.
  std::size_t row() const noexcept { return row_; }
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t row_;
  std::size_t column_;
};

}  // namespace firstlayer
