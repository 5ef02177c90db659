// What the memory allows: a plain copy of as many bytes as the output has, with the fastest of memcpy and, on x86-64,
// AVX and AVX-512 stores that bypass the caches.
// usage: streaming_copy same|new D THREADS time N
//   same  the source is one stretch, which stays in the caches as far as it fits
//   new   the source moves on through memory as large as the token table

#include <algorithm>
#include <barrier>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench/forward/sizes.h"
#include "bench/harness/program.h"
#include "firstlayer/base/tensor.h"

namespace {

using namespace bench::forward;

using Copy = void (*)(float* to, const float* from, std::size_t count);  // aligned to 64 bytes, count a multiple of 16

void copy_plain(float* to, const float* from, std::size_t count) { std::memcpy(to, from, count * sizeof(float)); }

#if defined(__x86_64__)
__attribute__((target("avx"))) void copy_avx(float* to, const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 16) {
    _mm256_stream_ps(to + i, _mm256_load_ps(from + i));
    _mm256_stream_ps(to + i + 8, _mm256_load_ps(from + i + 8));
  }
  _mm_sfence();
}

__attribute__((target("avx512f"))) void copy_avx512(float* to, const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 16) _mm512_stream_ps(to + i, _mm512_load_ps(from + i));
  _mm_sfence();
}
#endif

struct Variant {
  std::string_view name;
  Copy copy;
};

std::vector<Variant> variants() {
  std::vector<Variant> all{{"memcpy", copy_plain}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) all.push_back({"AVX streaming stores", copy_avx});
  if (__builtin_cpu_supports("avx512f")) all.push_back({"AVX-512 streaming stores", copy_avx512});
#endif
  return all;
}

/// Calls body(part) for each part below `threads` at once, part 0 on the calling thread. The threads stay alive.
class Team {
 public:
  Team(unsigned threads, std::function<void(unsigned)> body)
      : body_(std::move(body)), start_(threads), finish_(threads) {
    for (unsigned part = 1; part < threads; ++part) helpers_.emplace_back([this, part] { serve(part); });
  }
  ~Team() {
    ending_ = true;
    start_.arrive_and_wait();
  }
  void run() {
    start_.arrive_and_wait();
    body_(0);
    finish_.arrive_and_wait();
  }

 private:
  void serve(unsigned part) {
    while (true) {
      start_.arrive_and_wait();
      if (ending_) return;
      body_(part);
      finish_.arrive_and_wait();
    }
  }

  std::function<void(unsigned)> body_;
  std::barrier<> start_;
  std::barrier<> finish_;
  bool ending_ = false;                // written before, read after the start barrier
  std::vector<std::jthread> helpers_;  // last: they join before what they use goes
};

void measure(std::span<char*> arguments) {
  if (arguments.size() != 5) throw std::invalid_argument("usage: streaming_copy same|new D THREADS time N");
  const bool moves = std::string_view(arguments[0]) == "new";
  const auto threads = static_cast<unsigned>(std::stoul(arguments[2]));
  const std::size_t dim = std::stoul(arguments[1]);
  const std::size_t output_floats = kBatch * kContext * dim;
  const std::size_t table_floats = kVocabulary * dim / 16 * 16;
  firstlayer::Tensor<float, 1> source({table_floats});
  firstlayer::Tensor<float, 1> out({output_floats});
  std::ranges::fill(source.flat(), 1.0F);

  Copy copy = nullptr;
  std::size_t from = 0;
  Team team(threads, [&](unsigned part) {
    const std::size_t begin = output_floats / threads * part;
    copy(out.flat().data() + begin, source.flat().data() + from + begin, output_floats / threads);
  });
  const auto call = [&] {
    team.run();
    if (moves) from = from + 2 * output_floats <= table_floats ? from + output_floats : 0;
  };

  std::vector<double> fastest;
  std::string_view name;
  for (const Variant& variant : variants()) {
    copy = variant.copy;
    bench::time_calls(kWarmUpCalls, call);
    std::vector<double> seconds = bench::time_calls(std::stoul(arguments[4]), call);
    std::ranges::sort(seconds);
    if (fastest.empty() || seconds[seconds.size() / 2] < fastest[fastest.size() / 2]) {
      fastest = std::move(seconds);
      name = variant.name;
    }
  }
  const bench::Measured measured{"call", fastest};
  bench::print_report(name, {&measured, 1});
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
