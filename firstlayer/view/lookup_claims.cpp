// A lookup is a matrix product; a step moves the rows that were looked up; the number of a row means nothing.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/one_hot.h"
#include "firstlayer/view/claims.h"
#include "firstlayer/view/compare.h"

namespace firstlayer {
namespace {

/// Some gradient of the loss with respect to the vectors: N(0, std).
Tensor<float, 3> random_gradient(const Experiment& experiment, double std) {
  Tensor<float, 3> dout({1, experiment.ids.size(), experiment.dim()});
  Generator generator(experiment.seed);
  generator.fill_normal(dout.flat(), 0, std);
  return dout;
}

Tensor<float, 2> copy_of(View<const float, 2> table) {
  Tensor<float, 2> copy(table.shape());
  std::copy(table.flat().begin(), table.flat().end(), copy.flat().begin());
  return copy;
}

/// The part of a one-hot product that is not zero times a row: the rows of the ids that occur, and each place's id as a
/// number among them.
struct UsedRows {
  explicit UsedRows(const Experiment& experiment)
      : ids(unique_ids(experiment.ids)), rows({ids.size(), experiment.dim()}), places({1, experiment.ids.size()}) {
    const View<const float, 2> table = experiment.embedding.token_table();
    for (std::size_t u = 0; u < ids.size(); ++u) {
      std::copy(table[ids[u]].begin(), table[ids[u]].end(), rows.view()[u].begin());
    }
    for (std::size_t t = 0; t < experiment.ids.size(); ++t) {
      const auto found = std::lower_bound(ids.begin(), ids.end(), experiment.ids[t]);
      places.flat()[t] = static_cast<TokenId>(found - ids.begin());
    }
  }

  std::vector<TokenId> ids;   ///< (U,)
  Tensor<float, 2> rows;      ///< (U, d)
  Tensor<TokenId, 2> places;  ///< (1, T), each below U
};

/// In how many values the dense gradients differ, of which one holds `rows` (U, d) for `ids` (U,) and zeros elsewhere.
std::size_t gradient_differences(const RowGradient& gradient, std::span<const TokenId> ids, View<const float, 2> rows) {
  const std::vector<float> zeros(rows.dim(1));
  std::size_t count = 0;
  std::size_t u = 0;
  for (std::size_t i = 0; i < gradient.ids().size(); ++i) {
    for (; u < ids.size() && ids[u] < gradient.ids()[i]; ++u) count += differing_values(zeros, rows[u]);
    const bool expected = u < ids.size() && ids[u] == gradient.ids()[i];
    count += differing_values(gradient.rows()[i], expected ? rows[u++] : std::span<const float>(zeros));
  }
  for (; u < ids.size(); ++u) count += differing_values(zeros, rows[u]);
  return count;
}

double root_mean_square(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

/// A cycle through all rows in a drawn order, so that each gets the number of another: renumbered[id].
std::vector<TokenId> renumbering(std::size_t rows, std::uint64_t seed) {
  const std::vector<std::size_t> order = Generator(seed).permutation(rows);
  std::vector<TokenId> renumbered(rows);
  for (std::size_t i = 0; i < rows; ++i) renumbered[order[i]] = static_cast<TokenId>(order[(i + 1) % rows]);
  return renumbered;
}

/// A dense layer with one input, which is fed the id as a number: out[t] = id * weight + bias, (T, d).
std::vector<double> dense_layer(std::span<const TokenId> ids, View<const float, 2> weight_and_bias) {
  std::vector<double> out;
  for (const TokenId id : ids) {
    for (std::size_t k = 0; k < weight_and_bias.dim(1); ++k) {
      out.push_back(static_cast<double>(id) * weight_and_bias(0, k) + weight_and_bias(1, k));
    }
  }
  return out;
}

}  // namespace

Evidence one_hot_claim(const Experiment& experiment) {
  const UsedRows used(experiment);
  const Shape<2>& table = experiment.embedding.token_table().shape();
  const std::uint64_t T = experiment.ids.size();
  const std::uint64_t U = used.ids.size();
  const auto [V, d] = table;

  Tensor<float, 3> product({1, T, d});
  one_hot_lookup(used.rows, used.places, product);
  const Tensor<float, 3> looked_up = experiment.without_positions(experiment.ids);
  const std::size_t forward = differing_values(looked_up.flat(), product.flat());

  const Tensor<float, 3> dout = random_gradient(experiment, 1);
  Tensor<float, 2> expected({U, d});
  one_hot_gradient(used.places, dout, expected);
  const RowGradient gradient = experiment.layer.gradient(table, experiment.batch(), dout);
  const std::size_t backward = gradient_differences(gradient, used.ids, expected);

  return {.id = "one-hot",
          .claim = "A lookup is a one-hot vector times the table, forward and backward.",
          .measured = {{"vectors_that_differ", Count{forward, T * d}, "values"},
                       {"gradients_that_differ", Count{backward, V * d}, "values"},
                       {"products_with_rows_of_the_text", Count{T * U * d, T * V * d}, "products"}},
          .vectors = {},
          .verdict = holds_if(forward == 0 && backward == 0),
          .needs = {}};
}

Evidence touched_rows_claim(const Experiment& experiment) {
  const View<const float, 2> before = experiment.embedding.token_table();
  const UsedRows used(experiment);
  // As large as the rows themselves, or 1: a step that is lost in rounding would show nothing.
  const double size = root_mean_square(used.rows.flat());
  const Tensor<float, 3> dout = random_gradient(experiment, size > 0 ? size : 1);
  Tensor<float, 2> after = copy_of(before);
  experiment.layer.step(after, experiment.layer.gradient(before.shape(), experiment.batch(), dout), 0.1F);

  std::size_t moved = 0;
  std::size_t moved_untouched = 0;
  std::optional<TokenId> still;  // the first one after the text's first id
  for (std::size_t i = 0; i < before.dim(0); ++i) {
    const auto id = static_cast<TokenId>((experiment.ids[0] + i) % before.dim(0));
    const bool touched = std::binary_search(used.ids.begin(), used.ids.end(), id);
    const bool has_moved = differing_bits(before[id], after.view()[id]) > 0;
    moved += has_moved ? 1 : 0;
    moved_untouched += has_moved && !touched ? 1 : 0;
    if (!touched && !has_moved && !still) still = id;
  }
  const TokenId first = experiment.ids[0];
  const std::size_t V = before.dim(0);
  Evidence evidence{
      .id = "touched-rows",
      .claim = "A step of plain gradient descent moves the rows that were looked up, and no other.",
      .measured = {{"rows_touched", Count{used.ids.size(), V}, "rows"},
                   {"rows_moved", Count{moved, V}, "rows"},
                   {"rows_moved_without_being_touched", Count{moved_untouched, V - used.ids.size()}, "rows"},
                   {"a_touched_row", Ids{{first}}, ""},
                   {"its_largest_change", largest_difference<float>(before[first], after.view()[first]), ""}},
      .vectors = {},
      .verdict = holds_if(moved == used.ids.size() && moved_untouched == 0),
      .needs = {}};
  if (still) evidence.measured.push_back({"a_row_left_as_it_was", Ids{{*still}}, ""});
  if (used.ids.size() == V) {
    evidence.verdict = Verdict::kNotShown;
    evidence.needs = "a table with a row that the text does not use";
  }
  return evidence;
}

Evidence renumbering_claim(const Experiment& experiment) {
  const InputEmbedding& embedding = experiment.embedding;
  const View<const float, 2> table = embedding.token_table();
  Evidence evidence{.id = "renumbering",
                    .claim = "Renumbering the tokens changes a dense layer that is fed raw ids, and not the embedding.",
                    .measured = {},
                    .vectors = {},
                    .verdict = Verdict::kNotShown,
                    .needs = "a vocabulary of two tokens or more"};
  if (table.dim(0) < 2) return evidence;

  const std::vector<TokenId> renumbered = renumbering(table.dim(0), experiment.seed);
  Tensor<float, 2> rows(table.shape());
  for (std::size_t id = 0; id < table.dim(0); ++id) {
    std::copy(table[id].begin(), table[id].end(), rows.view()[renumbered[id]].begin());
  }
  std::vector<TokenId> ids;
  for (const TokenId id : experiment.ids) ids.push_back(renumbered[id]);
  const InputEmbedding other(std::move(rows), copy_of(embedding.position_table()));
  const Tensor<float, 3> x = experiment.with_positions(experiment.ids);
  const Tensor<float, 3> other_x = experiment.layer.forward(other, {ids, {1, ids.size()}});
  const std::size_t embedding_differs = differing_bits(x.flat(), other_x.flat());

  Generator generator(experiment.seed);
  Tensor<float, 2> weight_and_bias({2, experiment.dim()});
  generator.fill_normal(weight_and_bias.flat());
  const std::vector<double> y = dense_layer(experiment.ids, weight_and_bias);
  const std::vector<double> other_y = dense_layer(ids, weight_and_bias);
  const double dense_difference = largest_difference<double>(y, other_y);

  evidence.measured = {{"ids", std::vector<std::uint64_t>(experiment.ids.begin(), experiment.ids.end()), ""},
                       {"ids_renumbered", std::vector<std::uint64_t>(ids.begin(), ids.end()), ""},
                       {"embedding_values_that_differ", Count{embedding_differs, x.size()}, "values"},
                       {"embedding_largest_difference", largest_difference<float>(x.flat(), other_x.flat()), ""},
                       {"dense_layer_largest_difference", dense_difference, ""}};
  evidence.verdict = holds_if(embedding_differs == 0 && dense_difference > 0);
  evidence.needs.clear();
  return evidence;
}

}  // namespace firstlayer
