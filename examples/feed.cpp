// Ids to batches: windows of T ids, their targets one id later, in the order in which PyTorch's DataLoader shuffles.

#include <iostream>
#include <numeric>

#include "firstlayer/firstlayer.h"

int main() {
  std::vector<firstlayer::TokenId> ids(101);
  std::iota(ids.begin(), ids.end(), 0);

  firstlayer::WindowPlan plan = firstlayer::plan_windows(ids.size(), /*context=*/4, /*stride=*/4);
  firstlayer::BatchOrder order(plan.count, {.batch_size = 8, .drop_last = true, .shuffle = true, .seed = 123});
  std::cout << plan.count << " windows, " << order.batches() << " batches\n";

  std::span<const std::size_t> windows = order.batch(0);
  firstlayer::Tensor<firstlayer::TokenId, 2> inputs({windows.size(), plan.context});
  firstlayer::Tensor<firstlayer::TokenId, 2> targets({windows.size(), plan.context});
  firstlayer::copy_windows(ids, plan, windows, inputs, targets);
  for (std::size_t b = 0; b < 2; ++b) {
    for (firstlayer::TokenId id : inputs.view()[b]) std::cout << id << ' ';
    std::cout << "->";
    for (firstlayer::TokenId id : targets.view()[b]) std::cout << ' ' << id;
    std::cout << '\n';
  }
}
