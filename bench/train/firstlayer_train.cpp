// Training steps of GPT-2, drawn from seed 123.
// usage: firstlayer_train PRESET IDS B T THREADS (free | clip) (dump FILE | time N)
//   PRESET  nano, micro or gpt2; products-PRESET times its matrix products alone, on operands in the cache
//   IDS     uint32 ids in batches of B x (T + 1); step i takes batch i, and from the first again after the last

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/program.h"
#include "firstlayer/lookup/optimizer/clip.h"
#include "firstlayer/train/network/gpt_network.h"
#include "firstlayer/train/network/product.h"
#include "firstlayer/version.h"

namespace {

using namespace firstlayer;

constexpr std::size_t kWarmUpSteps = 2;
constexpr std::size_t kDumpSteps = 5;

struct Work {
  std::string preset;
  std::string ids;
  Shape<2> batch;
  unsigned threads;
  bool clip;
};

class Training {
 public:
  explicit Training(const Work& work)
      : work_(work),
        parameters_(random_gpt_parameters(gpt_preset(work.preset), 123)),
        network_(parameters_, work.batch, {.threads = work.threads}),
        optimizer_(parameters_, AdamW{.lr = 3e-4, .weight_decay = 0.1}),
        inputs_(work.batch),
        targets_(work.batch) {
    if (work.clip) gradients_.emplace(parameters_.config());
  }

  double step() {
    next_batch();
    if (!gradients_) return network_.train_step(inputs_, targets_, optimizer_);
    const double loss = network_.backward(inputs_, targets_, *gradients_);
    const GradientClip clip = gradient_clip(gradients_->named(), 1.0, work_.threads);
    optimizer_.step(*gradients_, work_.threads, clip.factor);
    return loss;
  }

 private:
  void next_batch() {
    const auto [B, T] = work_.batch;
    const std::size_t count = B * (T + 1);
    const std::size_t batches = work_.ids.size() / sizeof(TokenId) / count;
    const auto* ids = reinterpret_cast<const TokenId*>(work_.ids.data()) + number_++ % batches * count;
    for (std::size_t b = 0; b < B; ++b) {
      std::copy_n(ids + b * (T + 1), T, inputs_.view()[b].data());
      std::copy_n(ids + b * (T + 1) + 1, T, targets_.view()[b].data());
    }
  }

  const Work& work_;
  GptParameters parameters_;
  GptNetwork network_;
  GptAdamW optimizer_;
  std::optional<GptParameters> gradients_;
  Tensor<TokenId, 2> inputs_;
  Tensor<TokenId, 2> targets_;
  std::size_t number_ = 0;
};

void dump(const Work& work, const std::string& path) {
  Training training(work);
  std::vector<float> losses;
  for (std::size_t i = 0; i < kDumpSteps; ++i) losses.push_back(static_cast<float>(training.step()));
  bench::write_file(path, std::as_bytes(std::span(losses)));
}

void report(std::span<const double> seconds) {
  const auto peak = static_cast<double>(bench::memory("VmHWM"));
  const bench::Measured measures[] = {{"step", seconds}, {"rate", seconds}, {"peak", {&peak, 1}}};
  bench::print_report(kVersion, measures);
}

void time_steps(const Work& work, std::size_t steps) {
  Training training(work);
  for (std::size_t i = 0; i < kWarmUpSteps; ++i) training.step();
  report(bench::time_calls(steps, [&] { training.step(); }));
}

/// Multiplications of a step with additions: six for each row and number of a matrix that it meets, and those of
/// attention, of which half of the keys are masked.
double products_of(const GptConfig& config, const Shape<2>& batch) {
  const auto rows = static_cast<double>(batch[0] * batch[1]);
  const auto d = static_cast<double>(config.dim);
  const double matrices = 12 * d * d * static_cast<double>(config.layers) + d * static_cast<double>(config.vocabulary);
  const double attention = 12 * d * static_cast<double>(batch[1]) / 2 * static_cast<double>(config.layers);
  return rows * (6 * matrices + attention);
}

/// The time of a step's products, if each ran as fast as one whose operands lie in the first-level cache.
void time_products(const Work& work, std::string_view preset, std::size_t repeat) {
  constexpr std::size_t kSteps = 256;
  constexpr std::size_t kCalls = 20000;
  Tensor<float, 1> a({kStripRows * kSteps}), b({kPanelRows * kSteps}), c({kStripRows * kPanelRows});
  const Product job = {Left::kColumns,  a.flat().data(), kStripRows, kSteps,
                       b.flat().data(), c.flat().data(), kPanelRows, false};
  const double flops = 2.0 * kStripRows * kPanelRows * kSteps * kCalls;
  const double whole = products_of(gpt_preset(preset), work.batch) / work.threads;
  std::vector<double> seconds = bench::time_calls(repeat, [&] {
    for (std::size_t i = 0; i < kCalls; ++i) product(job, kStripRows);
  });
  for (double& each : seconds) each *= whole / flops;
  report(seconds);
}

void measure(std::span<char*> arguments) {
  if (arguments.size() != 8) {
    throw std::invalid_argument("usage: firstlayer_train PRESET IDS B T THREADS (free | clip) (dump FILE | time N)");
  }
  const Work work{arguments[0],
                  bench::read_file(arguments[1]),
                  {std::stoul(arguments[2]), std::stoul(arguments[3])},
                  static_cast<unsigned>(std::stoul(arguments[4])),
                  std::string_view(arguments[5]) == "clip"};
  constexpr std::string_view kProducts = "products-";
  if (std::string_view(arguments[6]) == "dump") {
    dump(work, arguments[7]);
  } else if (work.preset.starts_with(kProducts)) {
    time_products(work, work.preset.substr(kProducts.size()), std::stoul(arguments[7]));
  } else {
    time_steps(work, std::stoul(arguments[7]));
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
