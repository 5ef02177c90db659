// What an outside project writes first: text to ids, a tensor from a seed, an error caught by its type.
// It exits with 1 unless the values are right.
#include <cstdio>
#include <vector>

#include "firstlayer/firstlayer.h"

int main() {
  const auto tokenizer = firstlayer::Tokenizer::get_encoding("gpt2");
  const std::vector<firstlayer::TokenId> ids = tokenizer.encode("Hello, do you like tea?");
  const bool ids_right = ids == std::vector<firstlayer::TokenId>{15496, 11, 466, 345, 588, 8887, 30};

  firstlayer::Generator generator(123);
  const firstlayer::InputEmbedding layer({.vocabulary = 6, .context = 4, .dim = 3}, generator);
  const std::vector<firstlayer::TokenId> row{2, 3, 5, 1};
  const bool shape_right = layer.forward(firstlayer::Matrix<const firstlayer::TokenId>(row, {1, 4})).shape() ==
                           firstlayer::Shape<3>{1, 4, 3};

  bool error_right = false;
  try {
    firstlayer::NpyFile::open("no-such-file.npy");
  } catch (const firstlayer::FileError& error) {
    error_right = error.path() == "no-such-file.npy";
  }

  std::printf("firstlayer %s: ids %s, shape %s, error %s\n", firstlayer::kVersion, ids_right ? "right" : "WRONG",
              shape_right ? "right" : "WRONG", error_right ? "right" : "WRONG");
  return ids_right && shape_right && error_right ? 0 : 1;
}
