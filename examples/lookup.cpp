// Ids to vectors: the lessons' toy table of six rows, drawn as torch.manual_seed(123); nn.Embedding(6, 3) draws it.

#include <cstdio>

#include "firstlayer/firstlayer.h"

int main() {
  firstlayer::Generator generator(123);
  firstlayer::Tensor<float, 2> table = firstlayer::random_table(/*rows=*/6, /*dim=*/3, generator);

  firstlayer::Tensor<firstlayer::TokenId, 2> ids({1, 4});
  for (std::size_t t = 0; t < 4; ++t) ids.view()(0, t) = std::array{2U, 3U, 5U, 1U}[t];

  firstlayer::Tensor<float, 3> rows({1, 4, 3});
  firstlayer::lookup_rows(table, ids, rows);
  for (std::size_t t = 0; t < 4; ++t) {
    std::printf("id %u -> %8.4f %8.4f %8.4f\n", ids.view()(0, t), rows.view()(0, t, 0), rows.view()(0, t, 1),
                rows.view()(0, t, 2));
  }
}
