// Skip-gram on the words of a text.
// usage: firstlayer_skip_gram TEXT HELD_OUT EPOCHS THREADS (dump FILE | time N)
//   TEXT, HELD_OUT  words between white space, a sentence a line; of the first, those that occur 5 times are learned
//   EPOCHS          of `dump`, which writes the mean loss of a pair of HELD_OUT as float32; `time` times single epochs

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/program.h"
#include "firstlayer/train/skip_gram.h"
#include "firstlayer/train/word_vocabulary.h"
#include "firstlayer/version.h"

namespace {

using namespace firstlayer;

void measure(std::span<char*> arguments) {
  if (arguments.size() != 6) {
    throw std::invalid_argument("usage: firstlayer_skip_gram TEXT HELD_OUT EPOCHS THREADS (dump FILE | time N)");
  }
  const std::string text = bench::read_file(arguments[0]);
  const WordVocabulary vocabulary(text, 5);
  const WordSentences sentences = vocabulary.encode(text);
  SkipGramOptions options;
  options.threads = static_cast<unsigned>(std::stoul(arguments[3]));
  if (std::string_view(arguments[4]) == "dump") {
    options.epochs = std::stoul(arguments[2]);
    SkipGram model(vocabulary.counts(), options);
    model.train(sentences.ids, sentences.ends);
    const WordSentences held_out = vocabulary.encode(bench::read_file(arguments[1]));
    const float loss = static_cast<float>(model.loss(held_out.ids, held_out.ends));
    bench::write_file(arguments[5], std::as_bytes(std::span(&loss, 1)));
    return;
  }
  options.epochs = 1;
  SkipGram model(vocabulary.counts(), options);
  const std::vector<double> seconds =
      bench::time_calls(std::stoul(arguments[5]), [&] { model.train(sentences.ids, sentences.ends); });
  const std::vector<double> peak = {static_cast<double>(bench::memory("VmHWM"))};
  const bench::Measured measures[] = {{"epoch", seconds}, {"peak", peak}};
  bench::print_report(kVersion, measures);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
