// What forward, backward and steps of a token table cost as its sizes and those of a batch change.
// usage: firstlayer_growth V D PLACES UNIQUE THREADS time N
//   a batch has PLACES ids, of which UNIQUE are different, spread at random over V and others in each of N batches

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness/program.h"
#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/optimizer/table_optimizer.h"
#include "firstlayer/lookup/row_groups.h"
#include "firstlayer/version.h"

namespace {

using namespace firstlayer;

constexpr std::size_t kWarmUp = 5;

struct Sizes {
  std::size_t vocabulary;
  std::size_t dim;
  std::size_t places;
  std::size_t unique;
};

/// Batch number `number` of ids (1, places).
class Batches {
 public:
  Batches(const Sizes& sizes, Generator& generator)
      : sizes_(sizes), rows_(generator.permutation(sizes.vocabulary)), ids_({1, sizes.places}) {}

  View<const TokenId, 2> next() {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      ids_.flat()[i] = static_cast<TokenId>(rows_[(first_ + i % sizes_.unique) % rows_.size()]);
    }
    first_ += sizes_.unique;
    return ids_;
  }

 private:
  Sizes sizes_;
  std::vector<std::size_t> rows_;
  Tensor<TokenId, 2> ids_;
  std::size_t first_ = 0;
};

class Measurer {
 public:
  Measurer(const Sizes& sizes, unsigned threads, std::size_t repeat)
      : sizes_(sizes),
        threads_(threads),
        repeat_(repeat),
        generator_(123),
        batches_(sizes, generator_),
        table_(random_table(sizes.vocabulary, sizes.dim, generator_, 0.02)),
        out_({1, sizes.places, sizes.dim}),
        dout_({1, sizes.places, sizes.dim}) {
    generator_.fill_normal(dout_.flat(), 0.0, 1e-4);
  }

  std::vector<double> forward() {
    return each([&](View<const TokenId, 2> ids) { lookup_rows(table_, ids, out_, threads_); });
  }

  std::vector<double> backward() {
    return each([&](View<const TokenId, 2> ids) {
      groups_.assign(ids, sizes_.vocabulary);
      lookup_gradient(groups_, dout_, gradient_, threads_);
    });
  }

  std::vector<double> sgd() {
    TableOptimizer optimizer(table_, Sgd{.lr = 3e-4});
    return each([&](View<const TokenId, 2> ids) {
      groups_.assign(ids, sizes_.vocabulary);
      optimizer.step(groups_, dout_, threads_);
    });
  }

  /// The mean of many steps, with what they put off.
  std::vector<double> adamw() {
    TableOptimizer optimizer(table_, AdamW{.lr = 3e-4, .weight_decay = 0.1});
    const std::vector<double> steps = each([&](View<const TokenId, 2> ids) {
      groups_.assign(ids, sizes_.vocabulary);
      optimizer.prepare(groups_, threads_);
      optimizer.step(groups_, dout_, threads_);
    });
    const double start = bench::now();
    optimizer.settle(threads_);
    const double settling = bench::now() - start;
    return {(std::accumulate(steps.begin(), steps.end(), 0.0) + settling) / static_cast<double>(steps.size())};
  }

 private:
  template <class Call>
  std::vector<double> each(Call call) {
    std::vector<double> seconds(repeat_);
    for (std::size_t i = 0; i < kWarmUp + repeat_; ++i) {
      const View<const TokenId, 2> ids = batches_.next();
      const double start = bench::now();
      call(ids);
      if (i >= kWarmUp) seconds[i - kWarmUp] = bench::now() - start;
    }
    return seconds;
  }

  Sizes sizes_;
  unsigned threads_;
  std::size_t repeat_;
  Generator generator_;
  Batches batches_;
  Tensor<float, 2> table_;
  Tensor<float, 3> out_;
  Tensor<float, 3> dout_;
  RowGroups groups_;
  RowGradient gradient_;
};

void measure(std::span<char*> arguments) {
  if (arguments.size() != 7) {
    throw std::invalid_argument("usage: firstlayer_growth V D PLACES UNIQUE THREADS time N");
  }
  const Sizes sizes{std::stoul(arguments[0]), std::stoul(arguments[1]), std::stoul(arguments[2]),
                    std::stoul(arguments[3])};
  Measurer measurer(sizes, static_cast<unsigned>(std::stoul(arguments[4])), std::stoul(arguments[6]));
  const std::vector<double> forward = measurer.forward();
  const std::vector<double> backward = measurer.backward();
  const std::vector<double> sgd = measurer.sgd();
  const std::vector<double> adamw = measurer.adamw();
  const bench::Measured measures[] = {{"forward", forward}, {"backward", backward}, {"sgd", sgd}, {"adamw", adamw}};
  bench::print_report(kVersion, measures);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
