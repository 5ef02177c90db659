#pragma once
// The work that every contender of this task does.

#include <cstddef>

namespace bench::forward {

inline constexpr std::size_t kVocabulary = 50257;  ///< V
inline constexpr std::size_t kBatch = 8;           ///< B
inline constexpr std::size_t kContext = 1024;      ///< T, and rows of the position table
inline constexpr std::size_t kWarmUpCalls = 20;    ///< made before the time counts

}  // namespace bench::forward
