#include "firstlayer/feed/batches.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {

BatchOrder::BatchOrder(std::size_t windows, const BatchOptions& options)
    : options_(options), generator_(options.seed), order_(windows) {
  if (windows == 0) throw_invalid("BatchOrder", "at least 1 window", "0");
  if (options.batch_size == 0) throw_invalid("BatchOrder", "batch_size of at least 1", "0");
  if (options.drop_last && windows < options.batch_size) {
    throw_invalid("BatchOrder",
                  "at least batch_size = " + std::to_string(options.batch_size) + " windows with drop_last",
                  std::to_string(windows));
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  next_epoch();
}

std::size_t BatchOrder::batches() const noexcept {
  const bool short_last = !options_.drop_last && order_.size() % options_.batch_size != 0;
  return order_.size() / options_.batch_size + (short_last ? 1 : 0);
}

void BatchOrder::next_epoch() {
  if (!options_.shuffle) return;
  generator_.next_u64();  // the seed that PyTorch hands to worker processes
  Generator sampler(generator_.next_u64());
  order_ = sampler.permutation(order_.size());
}

std::span<const std::size_t> BatchOrder::batch(std::size_t index) const {
  if (index >= batches()) {
    throw_out_of_range("BatchOrder::batch", "a batch below " + std::to_string(batches()), std::to_string(index));
  }
  const std::span<const std::size_t> rest = std::span(order_).subspan(index * options_.batch_size);
  return rest.first(std::min(options_.batch_size, rest.size()));
}

}  // namespace firstlayer
