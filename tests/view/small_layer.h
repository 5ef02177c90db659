#pragma once
// A small input layer to break, and a look at one claim about it.

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/view/explain.h"

namespace firstlayer::testing {

inline constexpr EmbeddingSizes kSmallSizes{.vocabulary = 50, .context = 8, .dim = 16};
inline const std::vector<TokenId> kRow = {7, 3, 49, 3, 0};  // one id twice, the first and the last row

inline InputEmbedding small_embedding() {
  Generator generator(123);
  return InputEmbedding(kSmallSizes, generator);
}

/// The evidence for claim `id` on `ids`, where `layer` looks up, adds, steps and attends.
inline Evidence evidence_for(std::string_view id, const LayerOperations& layer = library_operations(1),
                             std::span<const TokenId> ids = kRow) {
  std::vector<Evidence> evidence = explain(small_embedding(), ids, 123, layer);
  const auto found = std::find_if(evidence.begin(), evidence.end(), [&](const Evidence& one) { return one.id == id; });
  if (found == evidence.end()) throw std::logic_error("no claim " + std::string(id));
  return std::move(*found);
}

/// What was measured under `name`.
template <class T>
T measured(const Evidence& evidence, std::string_view name) {
  for (const Measurement& one : evidence.measured) {
    if (one.name == name) return std::get<T>(one.value);
  }
  throw std::logic_error("no measurement " + std::string(name));
}

/// The same tensor after `change(b, t, vector)` was applied to each vector.
template <class Change>
Tensor<float, 3> changed(Tensor<float, 3> x, Change change) {
  for (std::size_t b = 0; b < x.dim(0); ++b) {
    for (std::size_t t = 0; t < x.dim(1); ++t) change(b, t, x.view()[b][t]);
  }
  return x;
}

}  // namespace firstlayer::testing
