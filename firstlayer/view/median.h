#pragma once
// The middle of many numbers. Internal to the library.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace firstlayer {

/// The value in the middle when sorted; of an even number, the mean of the two. 0 for none.
inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace firstlayer
