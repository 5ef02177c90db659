#pragma once
// Analogies: what is to king as woman is to man. king - man + woman lies near queen.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/view/neighbors.h"

namespace firstlayer {

/// a - b + c; the rows of a table. "man is to king as woman is to x" is {king, man, woman}.
struct Analogy {
  TokenId a;
  TokenId b;
  TokenId c;
};

/// How near a row x is to a - b + c, where cos is the cosine and each vector has length 1 first.
enum class AnalogyRule {
  kAdd,       ///< 3CosAdd: cos(x, a - b + c). Mikolov, Yih and Zweig (2013)
  kMultiply,  ///< 3CosMul: s(a) s(c) / (s(b) + 0.001), s(y) = (1 + cos(x, y)) / 2. Levy and Goldberg (2014), equation 4
};

/// "add" or "multiply".
std::string_view rule_name(AnalogyRule rule);

/// The nearest rows for each analogy, nearest first, as NeighborTable::find() gives them; its own three rows are left
/// out, and what the options exclude (excluded_of has a list for each analogy). For kAdd the three unit vectors are
/// added in float64 and their sum is rounded to float32. Throws std::invalid_argument unless the table's metric is the
/// cosine, std::out_of_range naming an id that is no row, and as find().
std::vector<std::vector<Neighbor>> find_analogies(const NeighborTable& table, std::span<const Analogy> analogies,
                                                  AnalogyRule rule = AnalogyRule::kAdd,
                                                  const NeighborOptions& options = {});

/// The definition, for one analogy: every row is scored.
std::vector<Neighbor> find_analogy_reference(View<const float, 2> table, const Analogy& analogy, AnalogyRule rule,
                                             const NeighborOptions& options = {});

}  // namespace firstlayer
