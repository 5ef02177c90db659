#include "firstlayer/lookup/embedding.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/row_kernels.h"
#include "firstlayer/lookup/row_norm.h"
#include "firstlayer/lookup/weighted_sum.h"

namespace firstlayer {
namespace {

/// rows[u] = the sum of dout over the places of group u, each times 1 / their number.
void sum_means(const RowGroups& groups, View<const float, 3> dout, View<float, 2> rows, unsigned threads) {
  const std::size_t dim = dout.dim(2);
  parallel_for(groups.size(), threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> weights;
    for (std::size_t u = begin; u < end; ++u) {
      const std::size_t count = groups.count(u);
      weights.assign(count, static_cast<float>(1.0 / static_cast<double>(count)));
      weighted_sum::sum(dout.data(), dim, groups.places().subspan(groups.starts()[u], count), weights, rows[u].data());
    }
  });
}

}  // namespace

Embedding::Embedding(Tensor<float, 2> table, const EmbeddingOptions& options, bool requires_grad)
    : table_(std::move(table)),
      options_(options),
      padding_id_(check_padding("Embedding", options.padding_idx, table_.dim(0))),
      requires_grad_(requires_grad) {
  if (table_.size() == 0) throw_invalid("Embedding", "a table with rows and columns", shape_text(table_.shape()));
  check_norm_options("Embedding", options.max_norm.value_or(0.0), options.norm_type);
}

Embedding::Embedding(std::size_t rows, std::size_t dim, Generator& generator, const EmbeddingOptions& options,
                     double std)
    : Embedding(random_table(rows, dim, generator, std), options, true) {
  if (padding_id_) std::ranges::fill(table_.view()[*padding_id_], 0.0F);
}

Embedding Embedding::from_pretrained(Tensor<float, 2> table, const EmbeddingOptions& options, bool freeze) {
  return {std::move(table), options, !freeze};
}

void Embedding::forward(IdView ids, View<float, 3> out, unsigned threads) {
  constexpr std::string_view kWhere = "Embedding::forward";
  check_out(kWhere, ids.shape(), table_.dim(1), out);
  const CheckedIds checked(kWhere, table_.shape(), ids);
  if (options_.max_norm) {
    used_.assign(checked.view(), table_.dim(0));
    limit_row_norms(table_, used_.ids(), *options_.max_norm, options_.norm_type, threads);
  }
  row_kernels::run({table_, nullptr, checked.view(), out}, threads);
}

Tensor<float, 3> Embedding::forward(IdView ids, unsigned threads) {
  Tensor<float, 3> out({ids.dim(0), ids.dim(1), table_.dim(1)});
  forward(ids, out, threads);
  return out;
}

void Embedding::group(IdView ids, RowGroups& groups) const { groups.assign(ids, table_.dim(0), padding_id_); }

void Embedding::gradient(const RowGroups& groups, View<const float, 3> dout, RowGradient& gradient,
                         unsigned threads) const {
  constexpr std::string_view kWhere = "Embedding::gradient";
  if (!requires_grad_) {
    throw_invalid(kWhere, "a table that learns", "a frozen one; set_requires_grad(true) lets it learn");
  }
  check_dout(kWhere, groups.batch(), table_.dim(1), dout);
  if (options_.scale_grad_by_freq) {
    gradient.assign(groups.ids(), table_.dim(1));
    sum_means(groups, dout, gradient.rows(), threads);
  } else {
    lookup_gradient(groups, dout, gradient, threads);
  }
}

RowGradient Embedding::gradient(IdView ids, View<const float, 3> dout, unsigned threads) const {
  RowGroups groups;
  group(ids, groups);
  RowGradient gradient_rows;
  gradient(groups, dout, gradient_rows, threads);
  return gradient_rows;
}

}  // namespace firstlayer
