#include "firstlayer/train/skip_gram.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/random.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/train/skip_gram_chunks.h"
#include "firstlayer/train/skip_gram_kernels.h"
#include "firstlayer/train/skip_gram_random.h"
#include "firstlayer/train/skip_gram_sampler.h"
#include "firstlayer/train/skip_gram_steps.h"

namespace firstlayer {

using namespace skip_gram;

namespace {

constexpr std::size_t kLargestWindow = 1000;    ///< and most noise words: what is more is a mistake
constexpr std::size_t kMostEpochs = 1'000'000;  ///< so that the streams of their random numbers stay apart

void check_between(const char* name, std::size_t value, std::size_t least, std::size_t most) {
  if (value < least || value > most) {
    throw_invalid("SkipGram", std::string(name) + " from " + std::to_string(least) + " to " + std::to_string(most),
                  std::to_string(value));
  }
}

void check_at_least_0(const char* name, double value) {
  if (!(value >= 0.0 && std::isfinite(value))) {
    throw_invalid("SkipGram", std::string(name) + " to be finite and at least 0", std::to_string(value));
  }
}

const SkipGramOptions& checked(const SkipGramOptions& options) {
  if (options.dim == 0) throw_invalid("SkipGram", "dim of at least 1", "0");
  check_between("window", options.window, 1, kLargestWindow);
  check_between("negatives", options.negatives, 1, kLargestWindow);
  check_between("epochs", options.epochs, 1, kMostEpochs);
  check_at_least_0("sample", options.sample);
  check_at_least_0("noise_power", options.noise_power);
  check_at_least_0("rate", options.rate);
  check_at_least_0("final_rate", options.final_rate);
  return options;
}

std::span<const std::uint64_t> checked(std::span<const std::uint64_t> counts) {
  if (counts.empty()) throw_invalid("SkipGram", "a count for each word of a vocabulary", "none");
  if (std::ranges::all_of(counts, [](std::uint64_t count) { return count == 0; })) {
    throw_invalid("SkipGram", "a word that occurs", "counts of 0 for all " + std::to_string(counts.size()));
  }
  return counts;
}

void check_ids(std::span<const TokenId> ids, std::size_t vocabulary, const char* where) {
  const auto wrong = std::ranges::find_if(ids, [&](TokenId id) { return id >= vocabulary; });
  if (wrong != ids.end()) {
    throw_out_of_range(where, "ids below V = " + std::to_string(vocabulary),
                       std::to_string(*wrong) + " at place " + std::to_string(wrong - ids.begin()));
  }
}

/// Rows padded with zeros to whole lanes.
class PaddedTable {
 public:
  PaddedTable(std::size_t rows, std::size_t dim) : dim_(dim), padded_({rows, (dim + kLanes - 1) / kLanes * kLanes}) {}

  void assign(View<const float, 2> table) {
    for (std::size_t row = 0; row < table.dim(0); ++row) {
      std::ranges::copy(table[row], padded_.view()[row].begin());
    }
  }

  Tensor<float, 2> copy() const {
    Tensor<float, 2> table({padded_.dim(0), dim_});
    for (std::size_t row = 0; row < table.dim(0); ++row) {
      std::ranges::copy(padded_.view()[row].first(dim_), table.view()[row].begin());
    }
    return table;
  }

  float* data() { return padded_.flat().data(); }
  std::size_t stride() const { return padded_.dim(1); }

 private:
  std::size_t dim_;
  Tensor<float, 2> padded_;
};

Tensor<float, 2> first_table(std::size_t rows, const SkipGramOptions& options) {
  Tensor<float, 2> table({rows, options.dim});
  const double half = 0.5 / static_cast<double>(options.dim);
  Generator(options.seed).fill_uniform(table.flat(), -half, half);
  return table;
}

/// What was learned from since the last report.
struct Tally {
  double loss = 0.0;
  std::uint64_t pairs = 0;

  double mean() const { return pairs == 0 ? 0.0 : loss / static_cast<double>(pairs); }
};

/// The stream of random numbers of a chunk; that of loss() is beyond those of all epochs.
std::uint64_t stream_of(std::uint64_t epoch, std::uint64_t chunk) { return (epoch << 40) + chunk; }
constexpr std::uint64_t kHeldOut = 0xFF'FFFF;
static_assert(kHeldOut > kMostEpochs);

}  // namespace

std::vector<std::uint64_t> count_ids(std::span<const TokenId> ids, std::size_t vocabulary) {
  check_ids(ids, vocabulary, "count_ids");
  std::vector<std::uint64_t> counts(vocabulary);
  for (const TokenId id : ids) ++counts[id];
  return counts;
}

struct SkipGram::State {
  State(std::span<const std::uint64_t> counts, std::size_t dim, const SkipGramOptions& chosen)
      : options(chosen),
        kept(counts, chosen.sample),
        noise(counts, chosen.noise_power),
        inputs(counts.size(), dim),
        outputs(counts.size(), dim),
        vocabulary(counts.size()) {}

  Tables tables() { return {inputs.data(), outputs.data(), inputs.stride()}; }

  /// Draws the terms of a chunk.
  void deal(std::span<const TokenId> ids, const Chunks& chunks, std::size_t chunk, std::uint64_t epoch,
            const RateLine& rate, DealtTerms& terms) const {
    Random random(options.seed, stream_of(epoch, chunk));
    const Draws draws{kept, noise, options.window, options.negatives};
    terms.clear();
    chunks.for_sentences(chunk, [&](std::size_t begin, std::size_t end) {
      terms.deal(ids.subspan(begin, end - begin), epoch * ids.size() + begin, rate, draws, random);
    });
  }

  /// Learns the terms of some chunks. In turn `shift` each part of the input rows meets another part of the output
  /// rows, so that no two threads have a row in common, and each row sees its terms in the same order on any of them.
  double learn(std::span<const DealtTerms> dealt) {
    std::array<double, kParts> losses{};
    const Tables rows = tables();
    for (std::size_t shift = 0; shift < kParts; ++shift) {
      parallel_for(kParts, options.threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t part = begin; part < end; ++part) {
          for (const DealtTerms& terms : dealt) losses[part] += run(rows, terms.list(part, (part + shift) % kParts));
        }
      });
    }
    double sum = 0.0;
    for (const double loss : losses) sum += loss;
    return sum;
  }

  SkipGramOptions options;
  SubSampling kept;
  NoiseTable noise;
  PaddedTable inputs;
  PaddedTable outputs;
  std::size_t vocabulary;
};

SkipGram::SkipGram(std::span<const std::uint64_t> counts, const SkipGramOptions& options)
    : state_(std::make_unique<State>(checked(counts), checked(options).dim, options)) {
  state_->inputs.assign(first_table(counts.size(), options));
}

SkipGram::SkipGram(std::span<const std::uint64_t> counts, View<const float, 2> table, const SkipGramOptions& options) {
  SkipGramOptions chosen = options;
  chosen.dim = table.dim(1);
  checked(chosen);
  if (table.dim(0) != checked(counts).size()) {
    throw_invalid("SkipGram", "a table with a row for each of " + std::to_string(counts.size()) + " counts",
                  shape_text(table.shape()));
  }
  state_ = std::make_unique<State>(counts, chosen.dim, chosen);
  state_->inputs.assign(table);
}

SkipGram::SkipGram(SkipGram&&) noexcept = default;
SkipGram& SkipGram::operator=(SkipGram&&) noexcept = default;
SkipGram::~SkipGram() = default;

bool SkipGram::train(std::span<const TokenId> ids, std::span<const std::size_t> ends, const SkipGramReport& report) {
  static constexpr const char* kWhere = "SkipGram::train";
  const Chunks chunks(ids.size(), ends, kWhere);
  check_ids(ids, state_->vocabulary, kWhere);
  const SkipGramOptions& options = state_->options;
  const std::uint64_t total = std::uint64_t{options.epochs} * ids.size();
  const RateLine rate{options.rate, options.final_rate, static_cast<double>(total)};
  const auto start = std::chrono::steady_clock::now();
  std::vector<DealtTerms> dealt(kParts);
  for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
    for (std::size_t first = 0; first < chunks.size(); first += kParts) {
      const std::size_t count = std::min(kParts, chunks.size() - first);
      parallel_for(count, options.threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) state_->deal(ids, chunks, first + i, epoch, rate, dealt[i]);
      });
      const std::span<const DealtTerms> terms = std::span(dealt).first(count);
      Tally tally{.loss = state_->learn(terms)};
      for (const DealtTerms& each : terms) tally.pairs += each.pairs();
      const std::uint64_t words = epoch * ids.size() + chunks.end(first + count - 1);
      if (!std::isfinite(tally.loss)) {
        throw std::runtime_error(mismatch_message(kWhere, "a finite loss",
                                                  "inf or NaN after " + std::to_string(words) +
                                                      " words; a smaller rate than " + std::to_string(options.rate) +
                                                      " may help, or a table without inf and NaN to go on from"));
      }
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (report && !report({.words = words,
                             .total_words = total,
                             .epoch = epoch + 1,
                             .words_per_second = static_cast<double>(words) / std::max(seconds.count(), 1e-9),
                             .pairs = tally.pairs,
                             .loss = tally.mean(),
                             .rate = rate.at(words)})) {
        return false;
      }
    }
  }
  return true;
}

double SkipGram::loss(std::span<const TokenId> ids, std::span<const std::size_t> ends) const {
  static constexpr const char* kWhere = "SkipGram::loss";
  const Chunks chunks(ids.size(), ends, kWhere);
  check_ids(ids, state_->vocabulary, kWhere);
  std::vector<Tally> tallies(chunks.size());
  const RateLine none{0.0, 0.0, 1.0};
  parallel_for(chunks.size(), state_->options.threads, [&](std::size_t begin, std::size_t end) {
    DealtTerms terms;
    for (std::size_t chunk = begin; chunk < end; ++chunk) {
      state_->deal(ids, chunks, chunk, kHeldOut, none, terms);
      tallies[chunk].pairs = terms.pairs();
      for (std::size_t i = 0; i < kParts * kParts; ++i) {
        tallies[chunk].loss += loss_of(state_->tables(), terms.list(i / kParts, i % kParts));
      }
    }
  });
  Tally all;
  for (const Tally& tally : tallies) {
    all.loss += tally.loss;
    all.pairs += tally.pairs;
  }
  if (all.pairs == 0) throw_invalid(kWhere, "a sentence of two words or more", "none that sub-sampling left");
  return all.mean();
}

Tensor<float, 2> SkipGram::vectors() const { return state_->inputs.copy(); }
Tensor<float, 2> SkipGram::context_vectors() const { return state_->outputs.copy(); }

}  // namespace firstlayer
