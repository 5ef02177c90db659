// firstlayer on one text.  usage: firstlayer_encode TEXT (dump FILE | time N)

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/program.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/version.h"

namespace {

void measure(std::span<char*> arguments) {
  if (arguments.size() != 3) throw std::invalid_argument("usage: firstlayer_encode TEXT (dump FILE | time N)");
  const std::string text = bench::read_file(arguments[0]);
  const std::size_t memory_before = bench::memory("VmRSS");

  const double start = bench::now();
  const auto tokenizer = firstlayer::Tokenizer::get_encoding("gpt2");
  const double loaded = bench::now() - start;
  const auto encode = [&] { return tokenizer.encode_ordinary(text); };

  if (std::string_view(arguments[1]) == "dump") {
    const std::vector<firstlayer::TokenId> ids = encode();
    bench::write_file(arguments[2], std::as_bytes(std::span(ids)));
    return;
  }
  const std::vector<double> seconds = bench::time_calls(1 + std::stoul(arguments[2]), encode);
  const double peak = static_cast<double>(bench::memory("VmHWM") - memory_before);
  bench::print_report(firstlayer::kVersion, std::array<bench::Measured, 4>{{
                                                {"load", {&loaded, 1}},
                                                {"cold", std::span(seconds).first(1)},
                                                {"warm", std::span(seconds).subspan(1)},
                                                {"peak", {&peak, 1}},
                                            }});
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
