#pragma once
// How the network holds its activations. Internal to the library.

#include <cstddef>
#include <type_traits>

namespace firstlayer {

/// Rows that lie side by side: a few vectors of any processor.
inline constexpr std::size_t kPanelRows = 32;

/// Activations (rows, features), panel after panel of 32 rows: in a panel each feature has its 32 rows beside each
/// other. What sums over features then works on whole vectors of rows, and a panel is at once the operand that a matrix
/// product reads. A row is a place of the batch, b * T + t; the last panel is filled up with rows that nobody asks for.
template <class T>
struct BasicPanels {
  T* data = nullptr;
  std::size_t count = 0;     ///< panels
  std::size_t features = 0;  ///< numbers in a row

  std::size_t rows() const { return count * kPanelRows; }
  std::size_t size() const { return rows() * features; }

  T* panel(std::size_t p) const { return data + p * features * kPanelRows; }
  T& operator()(std::size_t row, std::size_t feature) const {
    return panel(row / kPanelRows)[feature * kPanelRows + row % kPanelRows];
  }

  operator BasicPanels<const T>() const requires(!std::is_const_v<T>) { return {data, count, features}; }
};

using Panels = BasicPanels<float>;
using ConstPanels = BasicPanels<const float>;

inline std::size_t panels_for(std::size_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }

/// rows (count, features) -> panels, and back. Rows that fill up the last panel become 0.
void rows_to_panels(const float* rows, std::size_t count, Panels panels, unsigned threads);
void panels_to_rows(ConstPanels panels, std::size_t count, float* rows, unsigned threads);

/// Sets the rows from `count` on to 0.
void clear_rows_from(std::size_t count, Panels panels);

}  // namespace firstlayer
