#include "firstlayer/view/analogy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/view/byte_rows.h"
#include "firstlayer/view/exact_sums.h"
#include "firstlayer/view/neighbor_scan.h"
#include "firstlayer/view/sum_scorer.h"

namespace firstlayer {
namespace {

constexpr const char* kWhere = "find_analogies";
constexpr double kEpsilon = 0.001;
constexpr std::size_t kAtOnce = 1024;  ///< analogies whose vectors are rounded together

double cosine(double dot, double row_norm, double query_norm) {
  return rank_key(Metric::kCosine, dot, row_norm, query_norm);
}

double product_key(double a, double b, double c) { return ((1 + a) / 2) * ((1 + c) / 2) / ((1 + b) / 2 + kEpsilon); }

/// The options of a search for these analogies: each leaves out its own rows.
NeighborOptions with_own_rows(std::span<const Analogy> analogies, const NeighborOptions& options) {
  if (!options.excluded_of.empty() && options.excluded_of.size() != analogies.size()) {
    throw_invalid(kWhere, "as many lists excluded_of as analogies, " + std::to_string(analogies.size()),
                  std::to_string(options.excluded_of.size()));
  }
  NeighborOptions each = options;
  each.excluded_of.resize(analogies.size());
  for (std::size_t i = 0; i < analogies.size(); ++i) {
    const auto [a, b, c] = analogies[i];
    each.excluded_of[i].insert(each.excluded_of[i].end(), {a, b, c});
  }
  return each;
}

void check_rows(std::span<const Analogy> analogies, std::size_t vocabulary) {
  for (std::size_t i = 0; i < analogies.size(); ++i) {
    for (const TokenId id : {analogies[i].a, analogies[i].b, analogies[i].c}) {
      if (id >= vocabulary) {
        throw_out_of_range(kWhere, "ids below V = " + std::to_string(vocabulary),
                           std::to_string(id) + " in analogy " + std::to_string(i));
      }
    }
  }
}

/// Adds `sign` times row / |row|; a zero row adds nothing.
void add_unit(std::span<const float> row, double norm, double sign, std::vector<double>& sum) {
  if (!(norm > 0)) return;
  for (std::size_t k = 0; k < row.size(); ++k) sum[k] += sign * (static_cast<double>(row[k]) / norm);
}

/// a - b + c of unit vectors into `out` (d,). `norm_of` gives the length of a row.
template <class NormOf>
void offset_vector(View<const float, 2> table, const Analogy& analogy, NormOf norm_of, std::span<float> out) {
  std::vector<double> sum(out.size());
  add_unit(table[analogy.a], norm_of(analogy.a), 1.0, sum);
  add_unit(table[analogy.b], norm_of(analogy.b), -1.0, sum);
  add_unit(table[analogy.c], norm_of(analogy.c), 1.0, sum);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<float>(sum[k]);
}

/// Three queries a question, in the order a, b, c.
class ProductScorer final : public Scorer {
 public:
  ProductScorer(const ByteRows& rows, const ByteQueries& queries) : rows_(rows), queries_(queries) {}

  std::size_t vectors() const override { return 3; }

  std::size_t collect(std::size_t question, const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                      float floor, Candidate* out) const override {
    const ProductQuery query{queries_.factors(3 * question), queries_.factors(3 * question + 1),
                             queries_.factors(3 * question + 2), static_cast<float>(kEpsilon)};
    return collect_products(dots, stride, rows, query, floor, out);
  }

  float floor(std::size_t, double key) const override { return rounded_down(key); }

  double key(std::size_t question, TokenId row) const override {
    std::array<double, 3> cosines;
    for (std::size_t i = 0; i < cosines.size(); ++i) {
      const std::size_t query = 3 * question + i;
      cosines[i] =
          cosine(exact_sums::dot(rows_.table()[row], queries_.values(query)), rows_.norm(row), queries_.norm(query));
    }
    return product_key(cosines[0], cosines[1], cosines[2]);
  }

 private:
  const ByteRows& rows_;
  const ByteQueries& queries_;
};

std::vector<std::vector<Neighbor>> find_products(const ByteRows& rows, std::span<const Analogy> analogies,
                                                 const NeighborOptions& options) {
  if (options.count == 0) throw_invalid(kWhere, "a count of at least 1", "0");
  const auto [V, d] = rows.shape();
  const AllowedRows allowed(options, V, analogies.size());
  std::vector<std::vector<Neighbor>> found;
  found.reserve(analogies.size());
  for (std::size_t first = 0; first < analogies.size(); first += kAtOnce) {
    const std::span<const Analogy> some = analogies.subspan(first, std::min(kAtOnce, analogies.size() - first));
    Tensor<float, 2> vectors({3 * some.size(), d});
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::array<TokenId, 3> ids = {some[i].a, some[i].b, some[i].c};
      for (std::size_t j = 0; j < 3; ++j) std::ranges::copy(rows.table()[ids[j]], vectors.view()[3 * i + j].begin());
    }
    const ByteQueries queries(vectors, rows);
    const ProductScorer scorer(rows, queries);
    for (const std::vector<Ranked>& ranked :
         scan(rows, queries, some.size(), scorer, allowed.from(first), std::min(options.count, V), options.threads)) {
      std::vector<Neighbor>& neighbors = found.emplace_back();
      for (const Ranked& row : ranked) neighbors.push_back({row.id, row.key});
    }
  }
  return found;
}

}  // namespace

std::string_view rule_name(AnalogyRule rule) { return rule == AnalogyRule::kAdd ? "add" : "multiply"; }

std::vector<std::vector<Neighbor>> find_analogies(const NeighborTable& table, std::span<const Analogy> analogies,
                                                  AnalogyRule rule, const NeighborOptions& options) {
  if (table.metric() != Metric::kCosine) {
    throw_invalid(kWhere, "a table for the metric cosine", metric_name(table.metric()));
  }
  const ByteRows& rows = table.rows();
  check_rows(analogies, rows.shape()[0]);
  const NeighborOptions each = with_own_rows(analogies, options);
  if (rule == AnalogyRule::kMultiply) return find_products(rows, analogies, each);
  Tensor<float, 2> queries({analogies.size(), rows.shape()[1]});
  for (std::size_t i = 0; i < analogies.size(); ++i) {
    offset_vector(
        rows.table(), analogies[i], [&](TokenId id) { return rows.norm(id); }, queries.view()[i]);
  }
  return table.find(queries, each);
}

std::vector<Neighbor> find_analogy_reference(View<const float, 2> table, const Analogy& analogy, AnalogyRule rule,
                                             const NeighborOptions& options) {
  const std::span<const Analogy> one(&analogy, 1);
  check_rows(one, table.shape()[0]);
  NeighborOptions own = with_own_rows(one, options);
  const auto norm_of = [&](TokenId id) { return std::sqrt(exact_sums::dot_reference(table[id], table[id])); };
  if (rule == AnalogyRule::kAdd) {
    std::vector<float> query(table.shape()[1]);
    offset_vector(table, analogy, norm_of, query);
    return find_neighbors_reference(table, Metric::kCosine, query, own);
  }
  const AllowedRows allowed(own, table.shape()[0], 1);
  std::vector<Ranked> all;
  for (TokenId id = 0; id < table.shape()[0]; ++id) {
    if (!allowed.allows(0, id)) continue;
    const auto cosine_with = [&](TokenId other) {
      return cosine(exact_sums::dot_reference(table[id], table[other]), norm_of(id), norm_of(other));
    };
    all.push_back({product_key(cosine_with(analogy.a), cosine_with(analogy.b), cosine_with(analogy.c)), id});
  }
  std::sort(all.begin(), all.end(), [](const Ranked& x, const Ranked& y) { return x.before(y); });
  std::vector<Neighbor> best;
  for (const Ranked& row : std::span(all).first(std::min(all.size(), options.count))) best.push_back({row.id, row.key});
  return best;
}

}  // namespace firstlayer
