#include "firstlayer/view/exact_sums.h"

namespace firstlayer::exact_sums {

double dot_reference(std::span<const float> x, std::span<const float> y) {
  std::array<double, kLanes> sums{};
  for (std::size_t k = 0; k < x.size(); ++k) {
    sums[k % kLanes] += static_cast<double>(x[k]) * static_cast<double>(y[k]);
  }
  return fold(sums);
}

double squared_distance_reference(std::span<const float> x, std::span<const float> y) {
  std::array<double, kLanes> sums{};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double difference = static_cast<double>(x[k]) - static_cast<double>(y[k]);
    sums[k % kLanes] += difference * difference;
  }
  return fold(sums);
}

}  // namespace firstlayer::exact_sums
