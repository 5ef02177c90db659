#pragma once
// One pass over a table for many questions: bytes first, floats only for rows that bytes cannot rule out. Internal to
// the library.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firstlayer/view/byte_rows.h"
#include "firstlayer/view/row_bounds.h"
#include "firstlayer/view/top_list.h"

namespace firstlayer {

/// What is asked of each row. Question i is about queries i * vectors() and those after it.
class Scorer {
 public:
  Scorer() = default;
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;
  virtual ~Scorer() = default;

  /// Queries that a question is made of; a divisor of byte_dots::kGroup.
  virtual std::size_t vectors() const = 0;

  /// Writes the rows whose key may reach `least_key`, each with a bound on the scale of floor(). `dots` has those of
  /// the question's vectors, `stride` numbers each.
  virtual std::size_t collect(std::size_t question, const std::int32_t* dots, std::size_t stride, const RowRange& rows,
                              float floor, Candidate* out) const = 0;

  /// The bound that a row with this key has at least.
  virtual float floor(std::size_t question, double key) const = 0;

  /// The key itself: larger is nearer.
  virtual double key(std::size_t question, TokenId row) const = 0;
};

/// Rows that questions may be answered with.
class AllowedRows {
 public:
  /// What `options`, which must stay where they are, say about a table of V rows. Throws std::out_of_range naming an id
  /// that is no row, and std::invalid_argument if `excluded_of` is neither empty nor of `questions` lists.
  AllowedRows(const NeighborOptions& options, std::size_t vocabulary, std::size_t questions);

  /// The same where question 0 is this one's question `first`.
  AllowedRows from(std::size_t first) const;

  bool allows(std::size_t question, TokenId row) const;

 private:
  std::vector<bool> allowed_;                       ///< empty if all are
  std::span<const std::vector<TokenId>> excluded_;  ///< empty, or a list for each question
};

/// The best options.count rows for each of `questions` questions, best first. The same for any number of threads.
std::vector<std::vector<Ranked>> scan(const ByteRows& rows, const ByteQueries& queries, std::size_t questions,
                                      const Scorer& scorer, const AllowedRows& allowed, std::size_t count,
                                      unsigned threads);

}  // namespace firstlayer
