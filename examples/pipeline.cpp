// End to end: raw text to the (B, T, d) tensor that a transformer block takes.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "firstlayer/firstlayer.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: pipeline TEXT\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};

  // text -> ids
  firstlayer::Tokenizer gpt2 = firstlayer::Tokenizer::get_encoding("gpt2");
  std::vector<firstlayer::TokenId> ids = gpt2.encode(text);

  // ids -> inputs (B, T); their targets are what training would compare with
  const std::size_t context = 4;
  firstlayer::WindowPlan plan = firstlayer::plan_windows(ids.size(), context, /*stride=*/context);
  firstlayer::BatchOrder order(plan.count, {.batch_size = 8});
  std::span<const std::size_t> windows = order.batch(0);
  firstlayer::Tensor<firstlayer::TokenId, 2> inputs({windows.size(), context});
  firstlayer::Tensor<firstlayer::TokenId, 2> targets({windows.size(), context});
  firstlayer::copy_windows(ids, plan, windows, inputs, targets);

  // inputs (B, T) -> token rows + position rows (B, T, d)
  firstlayer::Generator generator(123);
  firstlayer::InputEmbedding layer({.vocabulary = gpt2.vocabulary_size(), .context = context, .dim = 256}, generator);
  firstlayer::Tensor<float, 3> x = layer.forward(inputs);

  std::printf("%zu bytes -> %zu ids -> %zu windows -> %s\n", text.size(), ids.size(), plan.count,
              firstlayer::shape_text(x.shape()).c_str());
  std::printf("x[0, 0] begins %.6f %.6f %.6f\n", x.view()(0, 0, 0), x.view()(0, 0, 1), x.view()(0, 0, 2));
}
