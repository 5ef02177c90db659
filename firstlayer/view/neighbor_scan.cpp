#include "firstlayer/view/neighbor_scan.h"

#include <algorithm>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"

namespace firstlayer {
namespace {

constexpr const char* kWhere = "NeighborTable::find";

struct Span {
  std::size_t begin;
  std::size_t end;
};

/// Part `part` of `parts` of [0, count).
Span part_of(std::size_t count, std::size_t part, std::size_t parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

/// Blocks of rows that are looked at together, so that their bytes stay in the second-level cache for all questions.
std::size_t panel_blocks(const ByteRows& rows) {
  constexpr std::size_t kPanelBytes = std::size_t{384} << 10;
  return std::clamp<std::size_t>(kPanelBytes / (rows.quads() * byte_dots::kBlockBytes), 2, 64);
}

/// Works on some questions and some blocks.
class Scan {
 public:
  Scan(const ByteRows& rows, const ByteQueries& queries, const Scorer& scorer, const AllowedRows& allowed)
      : rows_(rows),
        queries_(queries),
        scorer_(scorer),
        allowed_(allowed),
        panel_(panel_blocks(rows)),
        dots_(byte_dots::kGroup * panel_ * byte_dots::kBlockRows),
        candidates_(panel_ * byte_dots::kBlockRows) {}

  /// `lists` has one for each of the questions.
  void run(Span questions, Span blocks, std::span<TopList> lists) {
    const std::size_t together = byte_dots::kGroup / scorer_.vectors();
    for (std::size_t block = blocks.begin; block < blocks.end; block += panel_) {
      const Span panel{block, std::min(block + panel_, blocks.end)};
      for (std::size_t first = questions.begin; first < questions.end; first += together) {
        const Span group{first, std::min(first + together, questions.end)};
        look_at(group, panel, lists.subspan(first - questions.begin));
      }
    }
  }

 private:
  void look_at(Span questions, Span panel, std::span<TopList> lists) {
    const std::size_t vectors = scorer_.vectors();
    const std::size_t blocks = panel.end - panel.begin;
    const std::size_t stride = blocks * byte_dots::kBlockRows;
    queries_.multiply(questions.begin * vectors, (questions.end - questions.begin) * vectors, rows_, panel.begin,
                      blocks, dots_.data());
    const RowRange range = rows_.rows_of(panel.begin, panel.end);
    for (std::size_t question = questions.begin; question < questions.end; ++question) {
      const std::size_t place = question - questions.begin;
      TopList& list = lists[place];
      const std::size_t found = scorer_.collect(question, dots_.data() + place * vectors * stride, stride, range,
                                                scorer_.floor(question, list.least_key()), candidates_.data());
      if (found > 0) settle(question, std::span(candidates_).first(found), list);
    }
  }

  /// Computes the keys of candidates, those with the highest bound first: they raise the floor for the others.
  void settle(std::size_t question, std::span<Candidate> candidates, TopList& list) {
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.bound > b.bound; });
    float floor = scorer_.floor(question, list.least_key());
    for (const Candidate& candidate : candidates) {
      if (candidate.bound < floor) return;
      if (!allowed_.allows(question, candidate.id)) continue;
      list.offer({scorer_.key(question, candidate.id), candidate.id});
      floor = scorer_.floor(question, list.least_key());
    }
  }

  const ByteRows& rows_;
  const ByteQueries& queries_;
  const Scorer& scorer_;
  const AllowedRows& allowed_;
  std::size_t panel_;
  std::vector<std::int32_t> dots_;
  std::vector<Candidate> candidates_;
};

std::vector<bool> marks_of(const std::optional<std::vector<TokenId>>& only, const std::vector<TokenId>& excluded,
                           std::size_t vocabulary) {
  if (!only && excluded.empty()) return {};
  std::vector<bool> marks(vocabulary, !only);
  if (only) {
    for (const TokenId id : *only) marks[id] = true;
  }
  for (const TokenId id : excluded) marks[id] = false;
  return marks;
}

void check_rows(const std::vector<TokenId>& ids, std::size_t vocabulary) {
  for (const TokenId id : ids) {
    if (id >= vocabulary) {
      throw_out_of_range(kWhere, "ids below V = " + std::to_string(vocabulary), std::to_string(id));
    }
  }
}

}  // namespace

AllowedRows::AllowedRows(const NeighborOptions& options, std::size_t vocabulary, std::size_t questions)
    : excluded_(options.excluded_of) {
  if (!excluded_.empty() && excluded_.size() != questions) {
    throw_invalid(kWhere, "as many lists excluded_of as queries, " + std::to_string(questions),
                  std::to_string(excluded_.size()));
  }
  if (options.only) check_rows(*options.only, vocabulary);
  check_rows(options.excluded, vocabulary);
  for (const std::vector<TokenId>& ids : options.excluded_of) check_rows(ids, vocabulary);
  allowed_ = marks_of(options.only, options.excluded, vocabulary);
}

AllowedRows AllowedRows::from(std::size_t first) const {
  AllowedRows rest = *this;
  if (!excluded_.empty()) rest.excluded_ = excluded_.subspan(first);
  return rest;
}

bool AllowedRows::allows(std::size_t question, TokenId row) const {
  if (!allowed_.empty() && !allowed_[row]) return false;
  if (excluded_.empty()) return true;
  const std::vector<TokenId>& excluded = excluded_[question];
  return std::find(excluded.begin(), excluded.end(), row) == excluded.end();
}

std::vector<std::vector<Ranked>> scan(const ByteRows& rows, const ByteQueries& queries, std::size_t questions,
                                      const Scorer& scorer, const AllowedRows& allowed, std::size_t count,
                                      unsigned threads) {
  if (threads == 0) threads = hardware_threads();
  std::vector<TopList> lists(questions, TopList(count));
  const std::size_t groups = questions * scorer.vectors() / byte_dots::kGroup;
  if (groups >= threads) {  // every thread has questions of its own
    const std::size_t parts = threads;
    parallel_for(parts, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t part = begin; part < end; ++part) {
        const Span mine = part_of(questions, part, parts);
        Scan(rows, queries, scorer, allowed)
            .run(mine, {0, rows.blocks()}, std::span(lists).subspan(mine.begin, mine.end - mine.begin));
      }
    });
  } else {  // every thread has rows of its own
    // Waking a thread costs more than it saves on less than this.
    constexpr std::size_t kBytesPerThread = std::size_t{1} << 20;
    const std::size_t bytes = rows.blocks() * rows.quads() * byte_dots::kBlockBytes;
    const std::size_t parts = std::clamp<std::size_t>(bytes / kBytesPerThread, 1, threads);
    std::vector<std::vector<TopList>> partial(parts, lists);
    parallel_for(parts, static_cast<unsigned>(parts), [&](std::size_t begin, std::size_t end) {
      for (std::size_t part = begin; part < end; ++part) {
        Scan(rows, queries, scorer, allowed).run({0, questions}, part_of(rows.blocks(), part, parts), partial[part]);
      }
    });
    for (const std::vector<TopList>& part : partial) {
      for (std::size_t i = 0; i < questions; ++i) lists[i].merge(part[i]);
    }
  }
  std::vector<std::vector<Ranked>> best;
  best.reserve(questions);
  for (TopList& list : lists) best.push_back(std::move(list).sorted());
  return best;
}

}  // namespace firstlayer
