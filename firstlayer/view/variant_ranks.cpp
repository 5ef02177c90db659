#include "firstlayer/view/variant_ranks.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/view/byte_rows.h"
#include "firstlayer/view/exact_sums.h"
#include "firstlayer/view/median.h"
#include "firstlayer/view/sum_scorer.h"

namespace firstlayer {
namespace {

constexpr const char* kWhere = "variant_ranks";

/// Rows that stay in the cache while all queries of a thread meet them.
constexpr std::size_t kRowsAtOnce = 128;

struct Family {
  std::vector<TokenId> members;  ///< those that occur, ascending
  std::uint64_t count = 0;       ///< of all of them
};

std::vector<Family> families_that_occur(const Families& families, std::span<const std::uint64_t> counts,
                                        std::size_t most_tokens) {
  std::vector<Family> all;
  for (TokenId id = 0; id < counts.size(); ++id) {
    const std::span<const TokenId> members = families.members_of(id);
    if (members.front() != id) continue;
    Family& family = all.emplace_back();
    for (const TokenId member : members) {
      if (counts[member] == 0) continue;
      family.members.push_back(member);
      family.count += counts[member];
    }
    if (family.members.size() < 2) all.pop_back();
  }
  std::stable_sort(all.begin(), all.end(), [](const Family& a, const Family& b) { return a.count > b.count; });
  std::size_t tokens = 0;
  const auto too_many = std::find_if(all.begin(), all.end(), [&](const Family& family) {
    tokens += family.members.size();
    return tokens > most_tokens;
  });
  all.erase(too_many, all.end());
  return all;
}

/// A member, and the others as it sees them.
struct Query {
  TokenId id;
  std::vector<Ranked> others;
  std::vector<std::uint64_t> before;  ///< rows that come before each of them
};

double cosine_of(const ByteRows& rows, TokenId query, TokenId row) {
  const double dot = exact_sums::dot(rows.table()[row], rows.table()[query]);
  return rank_key(Metric::kCosine, dot, rows.norm(row), rows.norm(query));
}

std::vector<Query> queries_of(const ByteRows& rows, std::span<const Family> families) {
  std::vector<Query> queries;
  for (const Family& family : families) {
    for (const TokenId member : family.members) {
      Query& query = queries.emplace_back(Query{member, {}, {}});
      for (const TokenId other : family.members) {
        if (other != member) query.others.push_back({cosine_of(rows, member, other), other});
      }
      query.before.resize(query.others.size());
    }
  }
  return queries;
}

void count_rows_before(const ByteRows& rows, std::span<Query> queries) {
  const std::size_t count = rows.shape()[0];
  for (std::size_t first = 0; first < count; first += kRowsAtOnce) {
    const std::size_t last = std::min(first + kRowsAtOnce, count);
    for (Query& query : queries) {
      for (std::size_t i = first; i < last; ++i) {
        const auto id = static_cast<TokenId>(i);
        if (id == query.id) continue;
        const Ranked row{cosine_of(rows, query.id, id), id};
        for (std::size_t k = 0; k < query.others.size(); ++k) {
          if (row.before(query.others[k])) ++query.before[k];
        }
      }
    }
  }
}

}  // namespace

VariantRanks variant_ranks(const NeighborTable& table, const Families& families, std::span<const std::uint64_t> counts,
                           std::size_t most_tokens, unsigned threads) {
  if (table.metric() != Metric::kCosine) {
    throw_invalid(kWhere, "a table for the metric cosine", metric_name(table.metric()));
  }
  const std::size_t vocabulary = table.shape()[0];
  if (counts.size() != vocabulary || families.size() != vocabulary) {
    throw_invalid(kWhere, "families and counts of V = " + std::to_string(vocabulary) + " ids",
                  std::to_string(families.size()) + " and " + std::to_string(counts.size()));
  }
  const std::vector<Family> looked_at = families_that_occur(families, counts, most_tokens);
  std::vector<Query> queries = queries_of(table.rows(), looked_at);
  parallel_for(queries.size(), threads, [&](std::size_t begin, std::size_t end) {
    count_rows_before(table.rows(), std::span(queries).subspan(begin, end - begin));
  });
  std::vector<double> ranks;
  for (const Query& query : queries) {
    for (const std::uint64_t before : query.before) ranks.push_back(static_cast<double>(before + 1));
  }
  VariantRanks result{looked_at.size(), queries.size(), ranks.size(), 0, 0, static_cast<double>(vocabulary) / 2};
  if (ranks.empty()) return result;
  // Whole numbers: their sum is exact in any order.
  result.mean = std::accumulate(ranks.begin(), ranks.end(), 0.0) / static_cast<double>(ranks.size());
  result.median = median_of(std::move(ranks));
  return result;
}

}  // namespace firstlayer
