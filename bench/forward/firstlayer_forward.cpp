// Token + position embedding of (8, 1024) ids at V = 50,257, with tables drawn from seed 123.
// usage: firstlayer_forward KIND IDS D THREADS (dump FILE | time N)
//   KIND  reused     into one output tensor
//         allocated  into a new output tensor each call
//   IDS   uint32 ids, one or more batches of 8 x 1024: call i takes batch i, and from the first again after the last

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/forward/sizes.h"
#include "bench/harness/program.h"
#include "firstlayer/base/random.h"
#include "firstlayer/lookup/input_embedding.h"
#include "firstlayer/version.h"

namespace {

using firstlayer::TokenId;
using firstlayer::View;
using namespace bench::forward;

class Batches {
 public:
  explicit Batches(const std::string& path) : bytes_(bench::read_file(path)) {
    if (bytes_.empty() || bytes_.size() % kBatchBytes != 0)
      throw std::invalid_argument("expected whole batches in " + path);
  }

  View<const TokenId, 2> next() {
    const auto* ids = reinterpret_cast<const TokenId*>(bytes_.data() + next_);
    next_ = (next_ + kBatchBytes) % bytes_.size();
    return {std::span(ids, kBatch * kContext), {kBatch, kContext}};
  }

 private:
  static constexpr std::size_t kBatchBytes = kBatch * kContext * sizeof(TokenId);
  std::string bytes_;
  std::size_t next_ = 0;
};

void measure(std::span<char*> arguments) {
  if (arguments.size() != 6)
    throw std::invalid_argument("usage: firstlayer_forward KIND IDS D THREADS (dump FILE | time N)");
  const std::string_view kind = arguments[0];
  Batches batches(arguments[1]);
  const std::size_t dim = std::stoul(arguments[2]);
  const auto threads = static_cast<unsigned>(std::stoul(arguments[3]));
  firstlayer::Generator generator(123);
  const firstlayer::InputEmbedding embedding({kVocabulary, kContext, dim}, generator);
  firstlayer::Tensor<float, 3> out({kBatch, kContext, dim});

  if (std::string_view(arguments[4]) == "dump") {
    embedding.forward(batches.next(), out, threads);
    bench::write_file(arguments[5], std::as_bytes(out.flat()));
    return;
  }
  const std::size_t calls = kWarmUpCalls + std::stoul(arguments[5]);
  const std::vector<double> seconds =
      kind == "reused" ? bench::time_calls(calls, [&] { embedding.forward(batches.next(), out, threads); })
                       : bench::time_calls(calls, [&] { return embedding.forward(batches.next(), threads); });
  const bench::Measured call{"call", std::span(seconds).subspan(kWarmUpCalls)};
  bench::print_report(firstlayer::kVersion, {&call, 1});
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
