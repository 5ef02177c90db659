// Forward, backward and step of the token table, and with AdamW the position table, drawn from seed 123.
// usage: firstlayer_step KIND IDS B T D THREADS (dump FILE | time N)
//   KIND  adamw, adamw-tied, sparse-adam, sgd, rowwise-adagrad, adagrad: as torch_step.py and fbgemm_step.py
//   IDS   uint32 ids in batches of B x T; step i takes batch i, and from the first again after the last

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/program.h"
#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/input_embedding.h"
#include "firstlayer/lookup/optimizer/table_optimizer.h"
#include "firstlayer/lookup/row_groups.h"
#include "firstlayer/version.h"

namespace {

using namespace firstlayer;

constexpr std::size_t kVocabulary = 50257;
constexpr std::size_t kWarmUpSteps = 5;
constexpr std::size_t kDumpSteps = 3;
constexpr std::size_t kDumpPlaces = 256;
constexpr std::size_t kPoolExtra = std::size_t{1} << 20;  // each step's gradient begins elsewhere in a pool
constexpr std::size_t kPoolStride = 7919 * 16;
constexpr double kRate = 3e-4;

OptimizerOptions options_of(std::string_view kind) {
  if (kind.starts_with("adamw")) return AdamW{.lr = kRate, .weight_decay = 0.1};
  if (kind == "sparse-adam") return SparseAdam{.lr = kRate};
  if (kind == "sgd") return Sgd{.lr = kRate};
  if (kind == "rowwise-adagrad") return RowwiseAdagrad{.lr = kRate, .eps = 1e-8};
  if (kind == "adagrad") return Adagrad{.lr = kRate, .eps = 1e-8};
  throw std::invalid_argument("expected a KIND that is listed in the source, received " + std::string(kind));
}

struct Work {
  std::string_view kind;
  std::string ids;
  Shape<3> shape;  ///< (B, T, d)
  unsigned threads;
};

class Training {
 public:
  explicit Training(const Work& work)
      : work_(work),
        generator_(123),
        layer_({kVocabulary, work.shape[1], work.shape[2]}, generator_, kGpt2Std),
        tokens_(layer_.mutable_token_table(), options_of(work.kind)),
        out_(work.shape),
        pool_({element_count(work.shape) + kPoolExtra}) {
    generator_.fill_normal(pool_.flat(), 0.0, 1e-4);
    if (work.kind.starts_with("adamw")) positions_.emplace(layer_.mutable_position_table(), options_of(work.kind));
    if (work.kind == "adamw-tied") {
      head_gradient_ = Tensor<float, 2>({kVocabulary, work.shape[2]});
      generator_.fill_normal(head_gradient_.flat(), 0.0, 1e-4);
    }
  }

  void step() {
    const Matrix<const TokenId> ids = batch(number_);
    const std::size_t offset = number_++ * kPoolStride % kPoolExtra;
    const View<const float, 3> dout(pool_.flat().subspan(offset, out_.size()), out_.shape());
    groups_.assign(ids, kVocabulary);
    tokens_.prepare(groups_, work_.threads);
    if (positions_) {
      layer_.forward(ids, out_, work_.threads);
    } else {
      lookup_rows(layer_.token_table(), ids, out_, work_.threads);
    }
    if (head_gradient_.size() > 0) {
      tokens_.step_dense(head_gradient_, groups_, dout, work_.threads);
    } else {
      tokens_.step(groups_, dout, work_.threads);
    }
    if (positions_) positions_->step_positions(dout, work_.threads);
  }

  void settle() { tokens_.settle(work_.threads); }

  Matrix<const TokenId> batch(std::size_t number) const {
    const std::size_t count = work_.shape[0] * work_.shape[1];
    const std::size_t batches = work_.ids.size() / sizeof(TokenId) / count;
    const auto* ids = reinterpret_cast<const TokenId*>(work_.ids.data()) + number % batches * count;
    return {std::span(ids, count), {work_.shape[0], work_.shape[1]}};
  }

  View<const float, 2> token_table() const { return layer_.token_table(); }

 private:
  const Work& work_;
  Generator generator_;
  InputEmbedding layer_;
  TableOptimizer tokens_;
  std::optional<TableOptimizer> positions_;
  Tensor<float, 3> out_;
  Tensor<float, 1> pool_;
  Tensor<float, 2> head_gradient_;
  RowGroups groups_;
  std::size_t number_ = 0;
};

/// The rows of the first ids after a few steps.
void dump(const Work& work, const std::string& path) {
  Training training(work);
  for (std::size_t i = 0; i < kDumpSteps; ++i) training.step();
  training.settle();
  std::vector<float> rows;
  for (std::size_t place = 0; place < kDumpPlaces; ++place) {
    const std::size_t count = work.shape[0] * work.shape[1];
    const std::span<const float> row = training.token_table()[training.batch(place / count).flat()[place % count]];
    rows.insert(rows.end(), row.begin(), row.end());
  }
  bench::write_file(path, std::as_bytes(std::span(rows)));
}

/// The mean over `steps`, with what they put off.
void time_steps(const Work& work, std::size_t steps) {
  Training training(work);
  for (std::size_t i = 0; i < kWarmUpSteps; ++i) training.step();
  const double start = bench::now();
  for (std::size_t i = 0; i < steps; ++i) training.step();
  training.settle();
  const double mean = (bench::now() - start) / static_cast<double>(steps);
  const auto peak = static_cast<double>(bench::memory("VmHWM"));
  const bench::Measured measures[] = {{"step", {&mean, 1}}, {"peak", {&peak, 1}}};
  bench::print_report(kVersion, measures);
}

void measure(std::span<char*> arguments) {
  if (arguments.size() != 8) {
    throw std::invalid_argument("usage: firstlayer_step KIND IDS B T D THREADS (dump FILE | time N)");
  }
  const Work work{arguments[0],
                  bench::read_file(arguments[1]),
                  {std::stoul(arguments[2]), std::stoul(arguments[3]), std::stoul(arguments[4])},
                  static_cast<unsigned>(std::stoul(arguments[5]))};
  if (std::string_view(arguments[6]) == "dump") {
    dump(work, arguments[7]);
  } else {
    time_steps(work, std::stoul(arguments[7]));
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
